/** Values for a JSON Schema: allowed ones, those at its limits, and those beyond. */
import fc from 'fast-check';
import { notBlank } from '../src/http/schema.ts';
import { numbers, ownProto, sharpStrings, strings, values } from './texts/hostile.ts';

export type Schema = { readonly [keyword: string]: unknown };

export interface Values {
  /** Values that the schema's keywords allow. */
  valid(schema: Schema): fc.Arbitrary<unknown>;
  /** The required members of an object. */
  required(schema: Schema): readonly string[];
  /** `base`, or else an allowed value, that is made wrong in one place, set to a limit, or replaced altogether. */
  broken(schema: Schema, base?: unknown): fc.Arbitrary<unknown>;
}

/** The depth beyond which optional members are left out. */
const deepest = 6;
/** The maximum number of items of an array, unless the schema requires more. */
const usualItems = 3;

export function valuesOf(resolve: (reference: string) => Schema): Values {
  const validOf = new Map<Schema, fc.Arbitrary<unknown>>();
  const seen = (schema: Schema): Schema =>
    typeof schema.$ref === 'string' ? seen(resolve(schema.$ref)) : schema;

  function valid(given: Schema, depth = 0): fc.Arbitrary<unknown> {
    const schema = seen(given);
    const known = depth === 0 ? validOf.get(schema) : undefined;
    if (known !== undefined) return known;
    const made = make(schema, depth);
    if (depth === 0) validOf.set(schema, made);
    return made;
  }

  function make(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const examples = listOf(schema.examples);
    if ('const' in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const choices = [...listOf(schema.oneOf), ...listOf(schema.anyOf)];
    if (choices.length > 0) return fc.oneof(...choices.map(choice => valid(choice as Schema, depth + 1)));
    const types = [schema.type ?? 'string'].flat() as string[];
    const made = fc.oneof(...types.map(type => ofType(type, schema, depth)));
    if (examples.length === 0) return made;
    // Few, because values that must be unique would otherwise repeat.
    return fc.oneof({ weight: 5, arbitrary: made }, { weight: 1, arbitrary: fc.constantFrom(...examples) });
  }

  function ofType(type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: number(schema.minimum, -1000), max: number(schema.maximum, 1_000_000) });
      case 'number':
        return numbersBetween(number(schema.minimum, -1e6), number(schema.maximum, 1e9));
      case 'array':
        return arrays(schema, depth);
      case 'object':
        return objects(schema, depth);
      default:
        return textOf(schema);
    }
  }

  function arrays(schema: Schema, depth: number): fc.Arbitrary<unknown[]> {
    const minLength = number(schema.minItems, 0);
    if (depth > deepest) return fc.constant([]);
    const maxLength = Math.max(minLength, Math.min(number(schema.maxItems, usualItems), usualItems));
    return fc.array(valid((schema.items ?? {}) as Schema, depth + 1), { minLength, maxLength });
  }

  function objects(schema: Schema, depth: number): fc.Arbitrary<object> {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    const required = listOf(schema.required) as string[];
    const members = depth > deepest ? properties.filter(([name]) => required.includes(name)) : properties;
    const model = Object.fromEntries(members.map(([name, member]) => [name, valid(member, depth + 1)]));
    return fc.record(model, { requiredKeys: required.filter(name => name in model) });
  }

  /** Values at a limit or one beyond it, of the wrong type, or hostile. */
  function limits(given: Schema): fc.Arbitrary<unknown> {
    const schema = seen(given);
    const { minimum, maximum, minLength, maxLength, maxItems } = schema;
    const found: unknown[] = [];
    for (const limit of [minimum, maximum])
      if (typeof limit === 'number') found.push(limit - 1, limit, limit + 1, limit + 0.5);
    for (const length of [minLength, maxLength])
      if (typeof length === 'number' && length < 20_000)
        found.push(
          'x'.repeat(Math.max(0, length - 1)),
          'é'.repeat(length),
          '👍'.repeat(length),
          'x'.repeat(length + 1),
        );
    const anything = fc.constantFrom(...values);
    if (typeof maxItems === 'number' && maxItems <= 1000) return fc.oneof(anything, full(schema, maxItems));
    const types = [schema.type].flat();
    const lists = [
      { weight: 3, list: found },
      { weight: 3, list: types.includes('string') ? sharpStrings : [] },
      { weight: 2, list: types.includes('string') ? strings : [] },
      { weight: 3, list: types.includes('number') || types.includes('integer') ? numbers : [] },
    ].filter(({ list }) => list.length > 0);
    const drawn = lists.map(({ weight, list }) => ({ weight, arbitrary: fc.constantFrom<unknown>(...list) }));
    return fc.oneof(...drawn, { weight: 1, arbitrary: anything });
  }

  /** An array with the maximum number of items, or with one more. */
  function full(schema: Schema, maxItems: number): fc.Arbitrary<unknown> {
    const items = valid((schema.items ?? {}) as Schema);
    return items.chain(item => fc.constantFrom(Array(maxItems).fill(item), Array(maxItems + 1).fill(item)));
  }

  function broken(given: Schema, start?: unknown): fc.Arbitrary<unknown> {
    const schema = seen(given);
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    const names = Object.keys(properties);
    if (names.length === 0) {
      const items = schema.items as Schema | undefined;
      if (schema.type !== 'array' || items === undefined) return limits(schema);
      return fc.oneof(limits(schema), fc.array(fc.oneof(valid(items), broken(items)), { maxLength: 4 }));
    }
    const base = (start === undefined ? valid(schema) : fc.constant(start)) as fc.Arbitrary<
      Record<string, unknown>
    >;
    const one = fc.constantFrom(...names);
    const changed = fc
      .tuple(base, one)
      .chain(([object, name]) => broken(properties[name] ?? {}).map(value => ({ ...object, [name]: value })));
    const missing = fc.tuple(base, one).map(([object, name]) => ({ ...object, [name]: undefined }));
    const extra = fc
      .tuple(base, fc.constantFrom(...strings), fc.constantFrom(...values))
      .map(([object, name, value]) => ({ ...object, ...ownMember(name, value) }));
    return fc.oneof(
      { arbitrary: changed, weight: 6 },
      { arbitrary: missing, weight: 1 },
      { arbitrary: extra, weight: 1 },
      { arbitrary: fc.constantFrom(...values), weight: 1 },
    );
  }

  return {
    valid: schema => valid(schema),
    required: schema => listOf(seen(schema).required) as string[],
    broken,
  };
}

function textOf(schema: Schema): fc.Arbitrary<string> {
  const minLength = number(schema.minLength, 0);
  const maxLength = Math.min(number(schema.maxLength, 30), 30);
  switch (schema.format) {
    case 'email':
      return fc.integer({ min: 1, max: 1e6 }).map(value => `fuzz${value}@fuzz.example`);
    case 'date-time':
      return fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
        .map(date => date.toISOString());
    case 'uri':
    case 'uri-reference':
      return fc.webUrl();
    case 'json-pointer':
      return fc.constantFrom(
        '',
        '/name',
        '/price',
        '/title',
        '/tags/0',
        '/tags/-',
        '/id',
        '/~01',
        '/version',
      );
  }
  if (typeof schema.pattern === 'string' && schema.pattern !== notBlank) {
    const matching = fc.stringMatching(new RegExp(schema.pattern), { maxLength: Math.max(1, maxLength) });
    return matching.filter(text => text.length >= minLength);
  }
  return fc.string({
    minLength: Math.max(1, minLength),
    maxLength: Math.max(1, maxLength),
    unit: 'grapheme',
  });
}

function numbersBetween(min: number, max: number): fc.Arbitrary<number> {
  const cents = fc
    .integer({ min: Math.ceil(min), max: Math.floor(Math.min(max, 1e9)) })
    .map(value => value / 4);
  return fc
    .oneof(cents, fc.double({ min, max, noNaN: true, noDefaultInfinity: true }))
    .map(value => value + 0);
}

const ownMember = (name: string, value: unknown): object =>
  name === '__proto__' ? ownProto(value) : { [name]: value };

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const number = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
