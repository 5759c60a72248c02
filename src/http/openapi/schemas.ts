/**
 * Zod schemas → JSON Schemas of the document. A schema with an id becomes a component and is referred to; others are
 * inlined.
 */

import { z } from 'zod';
import { isObject } from '../../json-object.ts';
import { buildExample, type SchemaObject } from './example.ts';
import { linkTexts, memberTexts } from './members.ts';
import { findValueTexts } from './values.ts';

export type { SchemaObject };

type Direction = 'input' | 'output';

export type Schemas = ReturnType<typeof createSchemas>;

const prefix = '#/components/schemas/';

export function createSchemas() {
  const known = new Map<
    string,
    { readonly schema: SchemaObject; readonly direction: Direction; readonly text: string }
  >();

  function define(name: string, schema: SchemaObject, direction: Direction): void {
    if (name.startsWith('__')) throw new Error('a schema that contains itself needs an id: .meta({ id })');
    const before = known.get(name);
    const text = JSON.stringify(schema);
    if (before !== undefined && before.text !== text) {
      throw new Error(`the schema ${name} differs from another of this id: give each its own id`);
    }
    if (before === undefined) known.set(name, { schema, direction, text });
  }

  const resolve = (reference: string): SchemaObject => {
    const found = known.get(reference.slice(prefix.length));
    if (found === undefined) throw new Error(`${reference} is not a component`);
    return found.schema;
  };
  /** `all`: with optional members, as in responses. */
  const buildSchemaExample = (schema: SchemaObject, members: 'all' | 'required'): unknown =>
    buildExample(schema, members, resolve);

  function convert(schema: z.ZodType, direction: Direction): SchemaObject {
    const { $schema: _, $defs, ...top } = z.toJSONSchema(schema, { io: direction });
    for (const [name, definition] of Object.entries($defs ?? {})) {
      if (isObject(definition)) define(name, tidy(definition), direction);
    }
    return tidy(top);
  }

  /** Most schemas are used by several operations, those of errors by all. */
  const converted = { input: new Map<z.ZodType, SchemaObject>(), output: new Map<z.ZodType, SchemaObject>() };

  return {
    of: (schema: z.ZodType, direction: Direction): SchemaObject =>
      converted[direction].getOrInsertComputed(schema, () => convert(schema, direction)),
    /** The schema itself, or the component that it refers to. */
    resolve: (schema: SchemaObject): SchemaObject =>
      typeof schema.$ref === 'string' ? resolve(schema.$ref) : schema,
    named(name: string, schema: SchemaObject): SchemaObject {
      define(name, schema, 'output');
      return { $ref: `${prefix}${name}` };
    },
    example: buildSchemaExample,
    /** The components defined so far, by name. */
    components(): Record<string, SchemaObject> {
      const sorted = [...known].sort(([a], [b]) => (a < b ? -1 : 1));
      const schemas = sorted.map(([name, { schema }]) => [name, schema] as const);
      return Object.fromEntries(
        sorted.map(([name, { schema, direction }]) => {
          const examples = [buildSchemaExample(schema, direction === 'output' ? 'all' : 'required')];
          const bases = schemas.filter(([base]) => name.startsWith(base));
          return [name, { examples, ...referToBase(schema, bases) }];
        }),
      );
    },
  };
}

/**
 * Makes a schema that extends the one it is named after refer to it and describe only the additional members: the HAL
 * representation does not repeat the members of the JSON one.
 * @param bases the schemas that it may refer to
 */
function referToBase(
  schema: SchemaObject,
  bases: readonly (readonly [name: string, schema: SchemaObject])[],
): SchemaObject {
  const { type, properties, required, ...others } = schema;
  if (type !== 'object' || !isObject(properties)) return schema;
  const [largest] = bases
    .filter(([, base]) => isExtended(base, schema))
    .map(([name, base]) => ({ name, members: Object.keys(Object(base.properties)) }))
    .sort((a, b) => b.members.length - a.members.length);
  if (largest === undefined) return schema;
  const isOwn = (name: unknown) => !largest.members.some(member => member === name);
  const own = Object.fromEntries(Object.entries(properties).filter(([name]) => isOwn(name)));
  const ownRequired = (Array.isArray(required) ? required : []).filter(isOwn);
  const added = { type, properties: own, ...(ownRequired.length === 0 ? {} : { required: ownRequired }) };
  return { ...others, allOf: [{ $ref: `${prefix}${largest.name}` }, added] };
}

/** Whether `schema` has all members of `base` unchanged, and further ones, and `base` has no other keywords. */
function isExtended(base: SchemaObject, schema: SchemaObject): boolean {
  const { type, properties, required, description: _, examples: _examples, ...rest } = base;
  if (type !== 'object' || !isObject(properties) || Object.keys(rest).length > 0) return false;
  const members = Object(schema.properties);
  const isRequired = (list: unknown, name: string) => Array.isArray(list) && list.includes(name);
  return (
    Object.keys(members).length > Object.keys(properties).length &&
    Object.entries(properties).every(
      ([name, member]) =>
        Object.hasOwn(members, name) &&
        JSON.stringify(members[name]) === JSON.stringify(member) &&
        isRequired(required, name) === isRequired(schema.required, name),
    )
  );
}

/** Converts Zod's output to the form that suits readers of the document. */
function tidy(schema: SchemaObject): SchemaObject {
  const { override, ...own } = schema;
  if (isObject(override)) {
    // A query string contains text; the metadata gives the type that the text stands for.
    return addLimits(addValueTexts(keepDefined({ description: own.description, ...override })));
  }
  return addLimits(addValueTexts(toNullable(removeNoise(tidyChildren(own)))));
}

function tidyChildren(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === '$ref') return [keyword, String(value).replace('#/$defs/', prefix)];
      if (keyword === 'properties' && isObject(value)) {
        const members = Object.entries(value).map(([name, member]) => [
          name,
          isObject(member) ? addDescription(name, tidy(member)) : member,
        ]);
        return [keyword, Object.fromEntries(members)];
      }
      if (['items', 'additionalProperties'].includes(keyword) && isObject(value))
        return [keyword, tidy(value)];
      if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(keyword) && Array.isArray(value)) {
        return [keyword, value.map(part => (isObject(part) ? tidy(part) : part))];
      }
      return [keyword, value];
    }),
  );
}

/** Adds a description to a member that has none: the common one of its name, as a link or as another value. */
function addDescription(name: string, member: SchemaObject): SchemaObject {
  const text = (member.$ref === `${prefix}Link` ? linkTexts : memberTexts)[name];
  const isDescribed = member.description !== undefined || text === undefined;
  return isDescribed ? member : { ...member, description: text };
}

/**
 * Objects stay open, because a new member is not a breaking change and clients must ignore unknown ones. A pattern next
 * to a format repeats it at length, except for e-mail addresses, of which the service accepts fewer than the format.
 */
function removeNoise(schema: SchemaObject): SchemaObject {
  const { additionalProperties, propertyNames: _, pattern, example, ...kept } = schema;
  const isOpen =
    additionalProperties === false ||
    (isObject(additionalProperties) && Object.keys(additionalProperties).length === 0);
  return keepDefined({
    ...kept,
    additionalProperties: isOpen ? undefined : additionalProperties,
    pattern: kept.format === undefined || kept.format === 'email' ? pattern : undefined,
    ...(example === undefined ? {} : { examples: [example] }),
  });
}

export function addValueTexts(schema: SchemaObject): SchemaObject {
  const texts = Array.isArray(schema.enum) ? findValueTexts(schema.enum) : undefined;
  return texts === undefined ? schema : { ...schema, 'x-enum-descriptions': texts };
}

/**
 * `anyOf: [X, null]` → X with `null` among its types, if X has a type. An enumeration stays: some generators make values
 * of it that must be texts.
 */
function toNullable(schema: SchemaObject): SchemaObject {
  const { anyOf, ...around } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const value: unknown = anyOf.find(part => isObject(part) && part.type !== 'null');
  if (!isObject(value) || typeof value.type !== 'string' || Array.isArray(value.enum)) return schema;
  if (!anyOf.some(part => isObject(part) && part.type === 'null')) return schema;
  return { ...value, ...around, type: [value.type, 'null'] };
}

/** The maximum length of each format: no address is longer than a request header may be. */
const lengths: Readonly<Record<string, number>> = { 'date-time': 35, date: 10, uri: 16_384 };
const int32 = 2_147_483_647;

function addLimits(schema: SchemaObject): SchemaObject {
  const types = [schema.type].flat();
  if (types.includes('integer')) {
    const { minimum, maximum } = schema;
    const isShort = Number(minimum ?? -Infinity) >= -int32 - 1 && Number(maximum ?? Infinity) <= int32;
    return { format: isShort ? 'int32' : 'int64', ...schema };
  }
  const length = typeof schema.format === 'string' ? lengths[schema.format] : undefined;
  return length === undefined || !types.includes('string') ? schema : { maxLength: length, ...schema };
}

function keepDefined(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
