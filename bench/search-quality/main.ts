/**
 * `npm run bench -- search-quality`: how good search is compared with other engines, on a synthetic shop with judged
 * queries. `--per-kind N` makes a shop with N products of each kind and tests only our search, to see whether common
 * words find products as well there.
 */
import { parseArgs } from 'node:util';
import { exitOnSignals } from '../../scripts/command-line.ts';
import { cacheFolder } from '../servers/databases.ts';
import { startPostgres } from '../servers/postgres.ts';
import { type Engine, fts5, miniSearch, ours, tsRank } from './engines.ts';
import { type Measured, measure, summaryOf } from './metrics.ts';
import { gradeOf, type Query, queries } from './queries.ts';
import { type Product, products } from './shop.ts';

const hits = 50;
exitOnSignals();
const { values: options } = parseArgs({
  options: {
    worst: { type: 'boolean', default: false },
    'without-postgresql': { type: 'boolean', default: false },
    'per-kind': { type: 'string' },
  },
});
const perKind = options['per-kind'];
const shop = products(perKind === undefined ? undefined : Number(perKind));
const judged = queries(shop);

interface Run {
  readonly engine: string;
  readonly measured: ReadonlyMap<Query, Measured>;
  readonly milliseconds: readonly number[];
}

async function runOf(engine: Engine, grades: ReadonlyMap<Query, readonly number[]>): Promise<Run> {
  const measured = new Map<Query, Measured>();
  const milliseconds: number[] = [];
  for (const query of judged) {
    const start = performance.now();
    const found = await engine.find(query.text, hits);
    milliseconds.push(performance.now() - start);
    const all = grades.get(query) ?? [];
    measured.set(
      query,
      measure(
        found.map(place => all[place] ?? 0),
        all,
      ),
    );
  }
  await engine.close();
  return { engine: engine.name, measured, milliseconds };
}

function table(runs: readonly Run[], of: (query: Query, index: number) => boolean): string {
  const lines = runs.map(({ engine, measured }) => {
    const { ndcg, recall, reciprocalRank, empty } = summaryOf(
      [...measured].filter(([query], index) => of(query, index)).map(([, one]) => one),
    );
    return `| ${engine} | ${ndcg.toFixed(3)} | ${recall.toFixed(3)} | ${reciprocalRank.toFixed(3)} | ${(empty * 100).toFixed(1)} % |`;
  });
  return ['| search | nDCG@10 | recall@50 | MRR | empty |', '|---|--:|--:|--:|--:|', ...lines].join('\n');
}

function bySort(runs: readonly Run[]): string {
  const sorts = [...new Set(judged.map(({ sort }) => sort))].sort();
  const rows = sorts.map(sort => {
    const cells = runs.map(({ measured }) =>
      summaryOf([...measured].filter(([query]) => query.sort === sort).map(([, one]) => one)).ndcg.toFixed(3),
    );
    const count = judged.filter(query => query.sort === sort).length;
    return `| ${sort} | ${count} | ${cells.join(' | ')} |`;
  });
  return [
    `| nDCG@10 | queries | ${runs.map(({ engine }) => engine).join(' | ')} |`,
    `|---|--:|${runs.map(() => '--:|').join('')}`,
    ...rows,
  ].join('\n');
}

/** The queries with the worst results of our search, for analysis. */
function worst({ measured }: Run): string {
  const all = [...measured].filter((_, index) => index % 2 === 0).sort(([, a], [, b]) => a.ndcg - b.ndcg);
  return all
    .slice(0, 30)
    .map(([{ text, sort }, { ndcg }]) => `${ndcg.toFixed(3)} ${sort}: ${text}`)
    .join('\n');
}

async function compare(engines: readonly Engine[]): Promise<void> {
  const gradesOf = (query: Query) => shop.map((product: Product) => gradeOf(query, product));
  const grades = new Map(judged.map(query => [query, gradesOf(query)]));
  const runs: Run[] = [];
  for (const engine of engines) runs.push(await runOf(engine, grades));
  console.log(`${shop.length} products, ${judged.length} queries\n`);
  console.log(
    `The half that the weights were chosen with:\n\n${table(runs, (_, index) => index % 2 === 0)}\n`,
  );
  console.log(`The half kept for checking:\n\n${table(runs, (_, index) => index % 2 === 1)}\n`);
  console.log(`${bySort(runs)}\n`);
  const [own] = runs;
  if (own !== undefined) {
    const times = own.milliseconds.toSorted((a, b) => a - b);
    console.log(
      `ours: median ${times[Math.floor(times.length / 2)]?.toFixed(2)} ms, p95 ${times[Math.floor(times.length * 0.95)]?.toFixed(2)} ms`,
    );
    if (options.worst) console.log(`\n${worst(own)}`);
  }
}

if (perKind !== undefined) await compare([await ours(shop)]);
else if (options['without-postgresql']) await compare([await ours(shop), fts5(shop), miniSearch(shop)]);
else {
  const postgres = await startPostgres(cacheFolder);
  try {
    await compare([
      await ours(shop),
      fts5(shop),
      await tsRank(postgres.url('postgres'), shop),
      miniSearch(shop),
    ]);
  } finally {
    await postgres.stop();
  }
}
