/** Filters by attributes of products: as SQL, and as tests of the row in an event. */
import { type RawBuilder, sql } from 'kysely';
import { type IndexedValue, kinds, parseToken } from './values.ts';

/** One value between bounds. */
export interface Bound {
  readonly operator: '>' | '>=' | '<' | '<=';
  readonly value: number;
}

export type AttributeTest =
  /** Some value is one of `texts`, or a number in `numbers`; a text that looks like such a number does not match. */
  | { readonly of: 'equal'; readonly texts: readonly string[]; readonly numbers?: readonly string[] }
  /** Some number, or some date, is within all bounds. */
  | { readonly of: 'number' | 'date'; readonly bounds: readonly Bound[] };

/** A condition of a list on one attribute. */
export interface AttributeCondition {
  /** `attr.` and the key. */
  readonly column: string;
  readonly operator: 'attribute';
  /** The test as text, by which lists and cursors are distinguished. */
  readonly value: string;
  readonly key: string;
  readonly test: AttributeTest;
  readonly literal?: never;
  readonly join?: never;
}

export function createAttributeCondition(key: string, test: AttributeTest): AttributeCondition {
  return { column: `attr.${key}`, operator: 'attribute', value: JSON.stringify(test), key, test };
}

/** Statements are prepared for these numbers of texts; shorter lists are padded. */
const sizes = [0, 1, 2, 4, 8, 16, 32, 64, 128] as const;
export const chooseSize = (count: number): number => sizes.find(size => size >= count) ?? count;

/** The parts of a condition that the text of its statement depends on, which exclude the key and the values. */
export function toAttributeShape({ test }: AttributeCondition): string {
  if (test.of === 'equal')
    return `attribute=${chooseSize(test.texts.length)}+${chooseSize(test.numbers?.length ?? 0)}`;
  return `attribute ${test.of}${test.bounds.map(({ operator }) => operator).join()}`;
}

/** The arguments of a condition's SQL, named by its index among the conditions. */
export function buildAttributeArguments(
  { key, test }: AttributeCondition,
  index: number,
): Record<string, unknown> {
  const values: Record<string, unknown> = { [`c${index}k`]: key };
  if (test.of === 'equal') {
    for (const [letter, list] of Object.entries({ v: test.texts, n: test.numbers ?? [] }))
      for (let at = 0; at < chooseSize(list.length); at++)
        values[`c${index}${letter}${at}`] = list[at] ?? list[0];
  } else {
    for (const [at, { value }] of test.bounds.entries()) values[`c${index}v${at}`] = value;
  }
  return values;
}

/** Selects products whose attribute matches the test, by the index of values. */
export function buildAttributeSql(
  { test }: AttributeCondition,
  index: number,
  argument: Readonly<Record<string, RawBuilder<unknown>>>,
): RawBuilder<unknown> {
  const listArguments = (letter: string, count: number) =>
    Array.from({ length: count }, (_, place) => argument[`c${index}${letter}${place}`]);
  return sql`id in (select product_id from product_attributes
    where key = ${argument[`c${index}k`]} and ${buildMatchSql(test, listArguments)})`;
}

function buildMatchSql(
  test: AttributeTest,
  listArguments: (letter: string, count: number) => unknown[],
): RawBuilder<unknown> {
  if (test.of !== 'equal') {
    const values = listArguments('v', test.bounds.length);
    const compared = test.bounds.map(({ operator }, at) => sql`number ${sql.raw(operator)} ${values[at]}`);
    return sql`kind = ${sql.lit(kinds[test.of])} and ${sql.join(compared, sql` and `)}`;
  }
  const texts = listArguments('v', chooseSize(test.texts.length));
  const numbers = listArguments('n', chooseSize(test.numbers?.length ?? 0));
  if (numbers.length === 0) return sql`value in (${sql.join(texts)})`;
  // One list to search the index for, then a filter: a text from `numbers` counts only if the value is a number.
  return sql`value in (${sql.join([...texts, ...numbers])})
    and (kind = ${sql.lit(kinds.number)} or value in (${sql.join(texts)}))`;
}

/** @returns a function that tests whether a value matches */
export function createValueTest(test: AttributeTest): (value: IndexedValue) => boolean {
  if (test.of !== 'equal')
    return ({ kind, number }) =>
      kind === kinds[test.of] && number !== null && test.bounds.every(bound => isWithinBound(bound, number));
  const [texts, numbers] = [new Set(test.texts), new Set(test.numbers)];
  return ({ kind, text }) => texts.has(text) || (kind === kinds.number && numbers.has(text));
}

export function isWithinBound({ operator, value }: Bound, number: number): boolean {
  if (operator === '<') return number < value;
  if (operator === '<=') return number <= value;
  return operator === '>' ? number > value : number >= value;
}

/** @returns a function that tests whether some value of a row in an event matches; the values are parsed only once */
export function createTokensTest(tokens: readonly string[]): (test: AttributeTest) => boolean {
  const [texts, numbers] = [new Set<string>(), new Set<string>()];
  const ordered: Record<'number' | 'date', number[]> = { number: [], date: [] };
  for (const { kind, text, number } of tokens.map(parseToken)) {
    texts.add(text);
    if (kind === kinds.number) numbers.add(text);
    if (number !== null) ordered[kind === kinds.number ? 'number' : 'date'].push(number);
  }
  return test =>
    test.of === 'equal'
      ? test.texts.some(text => texts.has(text)) || test.numbers?.some(text => numbers.has(text)) === true
      : ordered[test.of].some(number => test.bounds.every(bound => isWithinBound(bound, number)));
}
