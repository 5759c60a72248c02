/** Builds a value that matches a JSON Schema, for schemas without an example. */
import { isObject } from '../../json-object.ts';

export type SchemaObject = { readonly [keyword: string]: unknown };

type Resolve = (reference: string) => SchemaObject;

/**
 * The schema's own example if it has one, else one built from its parts; the same schema always gives the same example.
 * @param members whether optional members of objects are included
 */
export function buildExample(schema: SchemaObject, members: 'all' | 'required', resolve: Resolve): unknown {
  const { $ref, examples, const: only, default: fallback, enum: values } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (typeof $ref === 'string') return buildExample(resolve($ref), members, resolve);
  if (only !== undefined) return only;
  if (fallback !== undefined) return fallback;
  if (Array.isArray(values)) return values[0];
  const buildPart = (part: unknown) => buildExample(requireSchema(part), members, resolve);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives) && schema.properties === undefined) return buildPart(alternatives[0]);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return buildObjectExample(schema, members, buildPart);
    case 'array':
      return schema.maxItems === 0 || schema.items === undefined ? [] : [buildPart(schema.items)];
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, Number(schema.minimum ?? 1)), Number(schema.maximum ?? Infinity));
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return buildTextExample(schema);
  }
}

function buildObjectExample(
  schema: SchemaObject,
  members: 'all' | 'required',
  buildPart: (part: unknown) => unknown,
): unknown {
  // Alternatives of an object with properties name those that are required together.
  const { required: ownRequired = [], oneOf = [] } = schema;
  const [alternative] = [oneOf].flat().map(requireSchema);
  const required = [ownRequired, alternative?.required ?? []].flat();
  const properties = Object.entries(requireSchema(schema.properties ?? {}));
  const shown = properties.filter(
    ([name]) => (members === 'all' && alternative === undefined) || required.includes(name),
  );
  // If no member is required, an empty object would show nothing.
  const chosen = shown.length === 0 ? properties.slice(0, 1) : shown;
  return Object.fromEntries(chosen.map(([name, part]) => [name, buildPart(part)]));
}

const texts: Readonly<Record<string, string>> = {
  'date-time': '2026-01-15T09:30:00.000Z',
  date: '2026-01-15',
  email: 'ada@shop.example',
  uri: 'https://shop.example/v1/products',
  uuid: '3f8e2a51-7c94-4b0d-9e16-52d7a0c4b8f3',
};

function buildTextExample({ format, minLength, maxLength }: SchemaObject): string {
  const text = typeof format === 'string' ? texts[format] : undefined;
  if (text !== undefined) return text;
  return 'example text'.padEnd(Number(minLength ?? 0), '.').slice(0, Number(maxLength ?? 100));
}

function requireSchema(value: unknown): SchemaObject {
  if (isObject(value)) return { ...value };
  throw new Error('a JSON Schema in the document is not an object');
}
