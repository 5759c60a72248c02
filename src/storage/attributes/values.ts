/** The values that products are filtered by, attributes and options, as indexes and caches hold them. */
import { toAttributeKey } from '../../attribute-key.ts';

type Scalar = string | number | boolean;
type AttributeValue = Scalar | readonly string[];
export type AttributeValues = Readonly<Record<string, AttributeValue>>;
/** By key: one value, or the list of all values of attributes and options with this key. */
export type FilterValues = Readonly<Record<string, Scalar | readonly Scalar[]>>;

export interface Filterable {
  readonly attributes?: AttributeValues | undefined;
  readonly options?: readonly { readonly name: string; readonly values: readonly string[] }[] | undefined;
}

/** The value of an option; a text that is the canonical form of a number becomes one, as in cells of attributes. */
function toOptionValue(text: string): Scalar {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? number : text;
}

/**
 * A product's attributes, and its options as attributes: all values of an option, under the key that its name is
 * converted to (docs/decisions/0042).
 */
export function collectFilterValues({ attributes = {}, options = [] }: Filterable): FilterValues {
  if (options.length === 0) return attributes;
  const all: Record<string, Scalar | readonly Scalar[]> = { ...attributes };
  for (const { name, values } of options) {
    const key = toAttributeKey(name);
    const own = Object.hasOwn(all, key) ? [all[key] ?? []].flat() : [];
    all[key] = [...own, ...values.map(toOptionValue)];
  }
  return all;
}

/** Kinds of values. Texts that are dates are ordered by time. */
export const kinds = { text: 0, number: 1, boolean: 2, date: 3 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];

/** A single value; a list has several. */
export interface IndexedValue {
  readonly kind: Kind;
  /** What equality compares: the text, or the number or boolean in JSON. */
  readonly text: string;
  /** What `<` and `>` compare: the number, or epoch milliseconds; null for values without an order. */
  readonly number: number | null;
}

/** Longer texts are compared by their hash: PostgreSQL has no index of entries above 2,704 bytes. */
const maxTextLength = 200;
const keptOfLonger = 100;

/** A text as it is compared for equality. */
export function toComparedText(text: string): string {
  if (text.length <= maxTextLength) return text;
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex');
  return `${[...text.slice(0, keptOfLonger)].join('').toWellFormed()}…${hash}`;
}

/** Whether this is the shortened form of a text that is too long for an index. */
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

function toIndexedValue(value: Scalar): IndexedValue {
  if (typeof value === 'number') return { kind: kinds.number, text: String(value), number: value };
  if (typeof value === 'boolean') return { kind: kinds.boolean, text: String(value), number: null };
  const moment = parseMoment(value);
  if (moment !== undefined) return { kind: kinds.date, text: value, number: moment };
  return { kind: kinds.text, text: toComparedText(value), number: null };
}

/** The entries of an index for one key: for a list, each text once, with the kind of the first value with this text. */
export function toIndexedValues(value: FilterValues[string]): IndexedValue[] {
  if (typeof value !== 'object') return [toIndexedValue(value)];
  const values = new Map<string, IndexedValue>();
  for (const one of value.map(toIndexedValue)) if (!values.has(one.text)) values.set(one.text, one);
  return [...values.values()];
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

/** The column name of an attribute in conditions and facets. */
const toColumnName = (key: string): string => `attr.${key}`;

/** The filter values of a product in events, from which caches take them: column → tokens. */
export function toEventAttributes(product: Filterable): Record<string, string[]> {
  const tokens: Record<string, string[]> = {};
  for (const [key, value] of Object.entries(collectFilterValues(product)))
    tokens[toColumnName(key)] = toIndexedValues(value).map(toToken);
  return tokens;
}
