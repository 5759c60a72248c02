/** Parameters: those of paths and queries, from their Zod shapes, and those in headers, as shared components. */
import type { z } from 'zod';
import { isObject } from '../../json-object.ts';
import type { Endpoint } from '../endpoint.ts';
import { findPrefix } from '../request/prefixed.ts';
import { buildLineSchema } from './headers.ts';
import type { SchemaObject, Schemas } from './schemas.ts';

const describeHeader = (name: string, description: string, schema: SchemaObject) => ({
  name,
  in: 'header',
  description,
  schema,
});

/** Request headers: component name → parameter. */
export const parameters = {
  XRequestId: {
    ...describeHeader(
      'X-Request-ID',
      'An id for this request, echoed in the response and kept in the logs: 1 to 255 printable ASCII characters. Any other value, and one that looks like a credential, is replaced by a generated id.',
      buildLineSchema(255),
    ),
    example: 'checkout-4711',
  },
  Prefer: describeHeader(
    'Prefer',
    '`handling=strict` refuses unknown parameters and members with 400 (RFC 7240); otherwise they are ignored.',
    buildLineSchema(1024),
  ),
  IfNoneMatch: describeHeader(
    'If-None-Match',
    'Entity tags that the client has cached: if one is current, the response is 304 and costs no quota.',
    buildLineSchema(16_384),
  ),
  IfModifiedSince: describeHeader(
    'If-Modified-Since',
    'If nothing has changed since, the response is 304. If-None-Match takes precedence.',
    buildLineSchema(64),
  ),
  IfMatch: describeHeader(
    'If-Match',
    'The ETag of the representation to change; if it is not current, the response is 412.',
    buildLineSchema(16_384),
  ),
  IfUnmodifiedSince: describeHeader(
    'If-Unmodified-Since',
    'If the resource has changed since, the response is 412. If-Match takes precedence.',
    buildLineSchema(64),
  ),
  Range: describeHeader(
    'Range',
    'A range of bytes: the response is that part (206). Multiple ranges, and values that are not a range of bytes, are ignored.',
    buildLineSchema(64),
  ),
  IfRange: describeHeader(
    'If-Range',
    'The ETag that the range belongs to; if it is not current, the response is the whole file.',
    buildLineSchema(128),
  ),
  IdempotencyKey: describeHeader(
    'Idempotency-Key',
    'Makes it safe to send the request again: for 24 hours the same request with the same key gets the stored response.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  ),
};

export type HeaderParameter = keyof typeof parameters;

export function buildShapeParameters(endpoint: Endpoint, schemas: Schemas): SchemaObject[] {
  return [
    ...buildFromShape(endpoint.params, 'path', schemas),
    ...buildFromShape(endpoint.query, 'query', schemas),
  ];
}

/** References to header parameters of an endpoint. X-Request-ID and Prefer are parameters of every path. */
export function buildHeaderParameters(names: readonly HeaderParameter[]): SchemaObject[] {
  return names.map(name => ({ $ref: `#/components/parameters/${name}` }));
}

function buildFromShape(
  object: z.ZodObject | undefined,
  place: 'path' | 'query',
  schemas: Schemas,
): SchemaObject[] {
  if (object === undefined) return [];
  return Object.entries(object.shape).map(([name, field]) => {
    // Boundary: Zod declares the members of a shape only by their core type.
    const type = field as z.ZodType;
    const { description = place === 'path' ? 'The id of the resource.' : '', ...schema } = schemas.of(
      type,
      'input',
    );
    const required = place === 'path' || !type.safeParse(undefined).success;
    // Interactive viewers send every example, and some optional parameters exclude each other.
    const { examples: _, ...bare } = schema;
    // Without an example, viewers invent names and send them.
    if (findPrefix(type) !== undefined)
      return {
        name,
        in: place,
        description,
        required,
        style: 'form',
        explode: true,
        schema: bare,
        example: {},
      };
    return required
      ? { name, in: place, description, required, schema, example: schemas.example(schema, 'required') }
      : { name, in: place, description, required, schema: bare };
  });
}

export interface Shared {
  readonly paths: Record<string, SchemaObject>;
  readonly parameters: Record<string, SchemaObject>;
}

/**
 * Makes components of parameters that several operations share, named after their place and name (`QueryPerPage`). If
 * two differ but have the same name, the first to occur twice is shared, and the other stays where it is used.
 */
export function shareParameters(paths: Readonly<Record<string, SchemaObject>>): Shared {
  const counts = new Map<string, number>();
  const shared: Record<string, SchemaObject> = {};
  const count = (parameter: SchemaObject): SchemaObject => {
    const text = JSON.stringify(parameter);
    const times = (counts.get(text) ?? 0) + 1;
    counts.set(text, times);
    if (times === 2 && parameter.$ref === undefined) shared[toComponentName(parameter)] ??= parameter;
    return parameter;
  };
  const refer = (parameter: SchemaObject): SchemaObject => {
    const name = toComponentName(parameter);
    const isShared = JSON.stringify(shared[name]) === JSON.stringify(parameter);
    return isShared ? { $ref: `#/components/parameters/${name}` } : parameter;
  };
  for (const item of Object.values(paths)) mapParameters(item, count);
  const referring = Object.entries(paths).map(([path, item]) => [path, mapParameters(item, refer)] as const);
  return { paths: Object.fromEntries(referring), parameters: shared };
}

const toComponentName = (parameter: SchemaObject): string =>
  [parameter.in, parameter.name].map(part => `${part}`.replace(/^./, first => first.toUpperCase())).join('');

/** Applies `change` to all parameters of a path item, its own and those of its operations. */
function mapParameters(item: SchemaObject, change: (parameter: SchemaObject) => SchemaObject): SchemaObject {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (name === 'parameters' && Array.isArray(value)) return [name, value.map(change)];
      const isOperation = isObject(value) && 'responses' in value;
      return [name, isOperation ? mapParameters(value, change) : value];
    }),
  );
}
