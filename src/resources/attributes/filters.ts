/** Filters by attributes: `attr.colour=red&attr.colour=blue` (either), `attr.watt=gte:10&attr.watt=lt:20` (both). */

import { attributeKey } from '../../attribute-key.ts';
import { createFieldError } from '../../http/errors.ts';
import { prefixedParameters } from '../../http/request/prefixed.ts';
import { Problems } from '../../http/request/problems.ts';
import {
  type AttributeCondition,
  type AttributeTest,
  type Bound,
  createAttributeCondition,
} from '../../storage/attributes/condition.ts';
import { parseMoment, toComparedText } from '../../storage/attributes/values.ts';
import type { Definition } from './schema.ts';
import type { Definitions } from './store.ts';
import type { UsedAttributes } from './used.ts';

const prefix = 'attr.';

/** The query parameters, for the schema of any list of products. */
export const attributeParameters = {
  attributes: prefixedParameters({
    prefix,
    name: attributeKey,
    maxValueLength: 1100,
    description:
      'Filters by attributes, one parameter for each: `attr.colour=red`. A repeated parameter matches any of its values; several attributes must all match. `gt:`, `gte:`, `lt:` and `lte:` before a number or date compare, and must all hold: `attr.watt=gte:10&attr.watt=lt:20`. `eq:` matches a value that itself begins with such a prefix. Options of products count as attributes: an option named `Shoe size` is `attr.shoe_size`, with all of its values. At most 20 names, and 100 values under all names together.',
  }),
};

const operators: Readonly<Record<string, Bound['operator']>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };
const words = ['eq', ...Object.keys(operators)].map(word => `${word}:`).join(', ');
const decimal = /^[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?$/;

/** Parses a decimal number; undefined for other text, and for a number out of range. */
function parseNumber(text: string): number | undefined {
  const number = decimal.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/**
 * The conditions for a query's attributes.
 * @param attributes as parsed by `attributeParameters`
 * @throws HttpError 400 naming the parameter: an unknown operator, a value that the attribute cannot have, or an
 *   attribute that is not filterable
 */
export function buildAttributeConditions(
  attributes: Readonly<Record<string, readonly string[]>> | undefined,
  definitions: Definitions,
): AttributeCondition[] {
  return Object.entries(attributes ?? {}).flatMap(([name, values]) => {
    const key = name.slice(prefix.length);
    const definition = definitions.get(key);
    if (definition?.filterable === false) throw createFieldError(name, 'filterable', 'is not filterable');
    return buildConditions(name, key, values, definition);
  });
}

/**
 * For strict handling: rejects filters on attributes that are neither defined nor used by any product.
 * @param attributes as parsed by `attributeParameters`
 * @throws HttpError 400 for each such attribute, with the closest known name
 */
export async function requireKnownAttributes(
  attributes: Readonly<Record<string, unknown>> | undefined,
  definitions: Definitions,
  { isUsed, readKeys }: UsedAttributes,
): Promise<void> {
  const problems = new Problems();
  let known: readonly string[] | undefined;
  for (const name of Object.keys(attributes ?? {})) {
    const key = name.slice(prefix.length);
    if (definitions.has(key) || (await isUsed(key))) continue;
    known ??= nameKnown(definitions, await readKeys());
    problems.addUnknown([name], { known });
  }
  problems.refuse();
}

function nameKnown(definitions: Definitions, used: readonly string[]): string[] {
  const filterable = [...definitions.values()].filter(one => one.filterable).map(({ key }) => key);
  const others = used.filter(key => !definitions.has(key));
  return [...filterable, ...others].map(key => `${prefix}${key}`);
}

function buildConditions(
  name: string,
  key: string,
  values: readonly string[],
  definition: Definition | undefined,
): AttributeCondition[] {
  const [texts, numbers] = [new Set<string>(), new Set<string>()];
  const bounds: Record<'number' | 'date', Bound[]> = { number: [], date: [] };
  for (const value of values) {
    const [, word = 'eq', operand = ''] = /^(?:([a-z]+):)?(.*)$/s.exec(value) ?? [];
    if (word === 'eq') {
      texts.add(toComparedText(operand));
      const number = parseEqualNumber(name, operand, definition);
      if (number !== undefined) numbers.add(String(number));
      continue;
    }
    const operator = operators[word];
    if (operator === undefined || !Object.hasOwn(operators, word))
      throw createFieldError(
        name,
        'operator',
        `must not begin with ${word.slice(0, 20)}:, which is none of ${words}`,
      );
    const found = parseOrderedValue(name, word, operand, definition);
    bounds[found.of].push({ operator, value: found.value });
  }
  const conditions: AttributeCondition[] = [];
  if (texts.size > 0) conditions.push(createAttributeCondition(key, buildEqualTest(texts, numbers)));
  for (const of of ['number', 'date'] as const)
    if (bounds[of].length > 0) conditions.push(createAttributeCondition(key, { of, bounds: bounds[of] }));
  return conditions;
}

/** A number has one form in the index, however it is written. A text with the same characters is a different value. */
function buildEqualTest(texts: ReadonlySet<string>, numbers: ReadonlySet<string>): AttributeTest {
  const others = [...numbers].filter(number => !texts.has(number)).sort();
  return { of: 'equal', texts: [...texts].sort(), ...(others.length === 0 ? {} : { numbers: others }) };
}

/**
 * The number that a value may stand for; undefined if it cannot be a number.
 * @throws HttpError 400 for a value that does not fit the type
 */
function parseEqualNumber(
  name: string,
  operand: string,
  definition: Definition | undefined,
): number | undefined {
  const type = definition?.type;
  const number = parseNumber(operand);
  if (type === 'number' && number === undefined) throw createFieldError(name, 'number', 'must be a number');
  if (type === 'boolean' && operand !== 'true' && operand !== 'false')
    throw createFieldError(name, 'boolean', 'must be true or false');
  if (type === 'date' && parseMoment(operand) === undefined)
    throw createFieldError(name, 'date', 'must be a date (2026-01-31) or a moment (2026-01-31T12:00:00Z)');
  return type === undefined || type === 'number' ? number : undefined;
}

function parseOrderedValue(
  name: string,
  word: string,
  operand: string,
  definition: Definition | undefined,
): { of: 'number' | 'date'; value: number } {
  const type = definition?.type;
  if (type !== undefined && type !== 'number' && type !== 'date')
    throw createFieldError(
      name,
      'operator',
      `must not begin with ${word}:, since its values have the type ${type}`,
    );
  const number = type === 'date' ? undefined : parseNumber(operand);
  if (number !== undefined) return { of: 'number', value: number };
  const moment = type === 'number' ? undefined : parseMoment(operand);
  if (moment !== undefined) return { of: 'date', value: moment };
  const wanted = type === undefined ? 'a number or a date' : `a ${type}`;
  throw createFieldError(name, type ?? 'number', `must have ${wanted} after ${word}:`);
}
