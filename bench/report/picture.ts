/** A picture of the cost of requests, as SVG: the service, the reference service and the limits. */
import type { DatabaseKind } from '../servers/databases.ts';
import { thousands } from './statistics.ts';

/** A request on a database; costs are in CPU µs, those of the database separately. */
export interface Bar {
  readonly request: string;
  readonly database: DatabaseKind;
  readonly products: number;
  readonly service: number;
  readonly databaseCost: number;
  /** The cost of the reference service, including its database; undefined where it was not measured. */
  readonly reference: number | undefined;
  /** The cost of a bare node:http server. */
  readonly node: number;
}

/** A limit, as a multiple of a bare node:http or of the reference service. The lower one applies. */
interface Limit {
  readonly node?: number;
  readonly reference?: number;
}

const limits: Readonly<Record<DatabaseKind, Readonly<Record<string, Limit>>>> = {
  sqlite: {
    'get-one': { node: 1.25 },
    list: { node: 2 },
    'list-price-range': { node: 5 },
    mixed: { node: 4, reference: 0.4 },
    update: { reference: 1 },
    create: { reference: 0.8 },
  },
  postgresql: {
    'get-one': { reference: 0.35 },
    list: { reference: 0.2 },
    'list-price-range': { reference: 0.5 },
    mixed: { reference: 0.4 },
    update: { reference: 1.2 },
    create: { reference: 1.2 },
  },
};

const title = 'CPU per request, database included (µs, logarithmic)';
const width = 860;
const left = 240;
const right = 120;
const rowHeight = 34;
const top = 56;
const colours = { service: '#2563eb', database: '#93c5fd', reference: '#9ca3af', limit: '#dc2626' } as const;

/** @returns an SVG document; bars share one logarithmic scale, since requests differ by a factor of a hundred */
export function drawCosts(bars: readonly Bar[]): string {
  const largest = Math.max(10, ...bars.flatMap(bar => [costOf(bar), bar.reference ?? 0, limitOf(bar) ?? 0]));
  const smallest = 5;
  const scale = (cost: number) =>
    (Math.log(Math.max(cost, smallest) / smallest) / Math.log(largest / smallest)) * (width - left - right);
  const height = top + bars.length * rowHeight + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="22" font-size="16">${title}</text>`,
    legend(),
    ...bars.map((bar, index) => row(bar, top + index * rowHeight, scale)),
    '</svg>\n',
  ].join('\n');
}

const costOf = (bar: Bar): number => bar.service + bar.databaseCost;

function limitOf({ request, database, node, reference }: Bar): number | undefined {
  const limit = limits[database][request];
  const candidates = [
    ...(limit?.node === undefined ? [] : [limit.node * node]),
    ...(limit?.reference === undefined || reference === undefined ? [] : [limit.reference * reference]),
  ];
  return candidates.length === 0 ? undefined : Math.min(...candidates);
}

function legend(): string {
  const entries = [
    ['catalog', colours.service],
    ['its database', colours.database],
    ['reference service', colours.reference],
    ['limit', colours.limit],
  ] as const;
  return entries
    .map(([name, colour], index) => {
      const x = left + index * 140;
      return `<rect x="${x}" y="33" width="12" height="10" fill="${colour}"/><text x="${x + 18}" y="42">${name}</text>`;
    })
    .join('');
}

function row(bar: Bar, y: number, scale: (cost: number) => number): string {
  const { request, database, products, service, reference } = bar;
  const own = scale(service);
  const whole = scale(costOf(bar));
  const limit = limitOf(bar);
  const parts = [
    `<text x="12" y="${y + 16}">${request}, ${database}, ${thousands(products)}</text>`,
    box(left, y + 3, own, colours.service),
    box(left + own, y + 3, whole - own, colours.database),
    `<text x="${left + Math.max(whole, scale(reference ?? 0)) + 6}" y="${y + 16}">${costOf(bar).toFixed(0)}${
      reference === undefined ? '' : ` / ${reference.toFixed(0)}`
    }</text>`,
  ];
  if (reference !== undefined) parts.push(box(left, y + 17, scale(reference), colours.reference));
  if (limit !== undefined) {
    const x = (left + scale(limit)).toFixed(1);
    parts.push(
      `<line x1="${x}" x2="${x}" y1="${y}" y2="${y + 30}" stroke="${colours.limit}" stroke-width="2"/>`,
    );
  }
  return parts.join('');
}

function box(x: number, y: number, width: number, colour: string): string {
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, width).toFixed(1)}" height="12" fill="${colour}"/>`;
}
