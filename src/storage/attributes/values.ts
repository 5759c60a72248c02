/** The values of products' attributes as indexes and caches hold them. */

/** What an attribute may be. */
type AttributeValue = string | number | boolean | readonly string[];
export type AttributeValues = Readonly<Record<string, AttributeValue>>;

/** Texts that are dates are ordered by their moment. */
export const kinds = { text: 0, number: 1, boolean: 2, date: 3 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];

/** One value: of a list each is one. */
export interface IndexedValue {
  readonly kind: Kind;
  /** What equality compares: the text, or what JSON makes of the number or boolean. */
  readonly text: string;
  /** What comparisons compare: the number, or epoch milliseconds; null for what has no order. */
  readonly number: number | null;
}

/** Longer texts are compared by their hash: PostgreSQL has no index of entries above 2,704 bytes. */
const longestText = 200;
const keptOfLonger = 100;

/** A text as it is compared for equality. */
export function toComparedText(text: string): string {
  if (text.length <= longestText) return text;
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex');
  return `${[...text.slice(0, keptOfLonger)].join('').toWellFormed()}…${hash}`;
}

/** Whether it stands for a text that is too long to be shown as a whole from an index. */
export const isShortened = (text: string): boolean =>
  text.length > keptOfLonger + 1 && /…[0-9a-f]{64}$/.test(text);

const datePattern = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Epoch milliseconds of a date, or a moment with its offset (ISO 8601); undefined for any other text. */
export function parseMoment(text: string): number | undefined {
  if (text.length < 10 || text.length > 35) return undefined;
  const parts = datePattern.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day] = parts;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > days) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}

function toIndexedValue(text: string): IndexedValue {
  const moment = parseMoment(text);
  if (moment !== undefined) return { kind: kinds.date, text, number: moment };
  return { kind: kinds.text, text: toComparedText(text), number: null };
}

/** What an index holds of one attribute; each value of a list once. */
export function toIndexedValues(value: AttributeValue): IndexedValue[] {
  if (typeof value === 'number') return [{ kind: kinds.number, text: String(value), number: value }];
  if (typeof value === 'boolean') return [{ kind: kinds.boolean, text: String(value), number: null }];
  if (typeof value === 'string') return [toIndexedValue(value)];
  return [...new Set(value)].map(toIndexedValue);
}

/** A value as one text, for events. */
export const toToken = ({ kind, text }: Pick<IndexedValue, 'kind' | 'text'>): string => `${kind}${text}`;

/** The value that a token stands for. */
export function parseToken(token: string): IndexedValue {
  // Boundary: tokens are made by toToken, and begin with a kind.
  const kind = Number(token[0]) as Kind;
  const text = token.slice(1);
  const number =
    kind === kinds.number ? Number(text) : kind === kinds.date ? (parseMoment(text) ?? null) : null;
  return { kind, text, number };
}

/** The name that conditions and facets of an attribute have among columns. */
const toColumnName = (key: string): string => `attr.${key}`;

/** Attributes as caches take them from events: column → tokens. */
export function toEventAttributes(attributes: AttributeValues | undefined): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) values[toColumnName(key)] = toIndexedValues(value).map(toToken);
  }
  return values;
}
