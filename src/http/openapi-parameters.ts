/** Parameters: those of paths and queries from their Zod shapes, those in headers as shared components. */
import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { httpDate, line } from './openapi-headers.ts';
import type { SchemaObject, Schemas } from './openapi-schemas.ts';

/** Headers of requests: component name → parameter. */
export const parameters = {
  XRequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description: 'An id for this request, echoed in the answer and kept in the logs.',
    schema: line(255),
    example: 'checkout-4711',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Entity tags the client has: when one is current the answer is 304 and costs no quota.',
    schema: line(16_384),
    example: '"0f343b0931126a20f133d67c2b018a3b"',
  },
  IfModifiedSince: {
    name: 'If-Modified-Since',
    in: 'header',
    description: 'When nothing has changed since, the answer is 304. If-None-Match takes precedence.',
    schema: line(64),
    example: httpDate,
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The ETag of the representation the change is meant for; when it is not current, 412.',
    schema: line(16_384),
    example: '"0f343b0931126a20f133d67c2b018a3b"',
  },
  IfUnmodifiedSince: {
    name: 'If-Unmodified-Since',
    in: 'header',
    description: 'When the resource has changed since, 412. If-Match takes precedence.',
    schema: line(64),
    example: httpDate,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to send the request again: for 24 hours the same key and body get the stored answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    example: '6c0b0c2e-order-17',
  },
} as const satisfies Record<string, SchemaObject>;

export type HeaderParameter = keyof typeof parameters;

/** The parameters of an endpoint's path and query. */
export function shapeParameters(endpoint: Endpoint, schemas: Schemas): SchemaObject[] {
  return [...fromShape(endpoint.params, 'path', schemas), ...fromShape(endpoint.query, 'query', schemas)];
}

/** What an endpoint reads from headers: X-Request-ID is a parameter of every path. */
export function headerParameters(names: readonly HeaderParameter[]): SchemaObject[] {
  return names.map(name => ({ $ref: `#/components/parameters/${name}` }));
}

function fromShape(
  object: z.ZodObject | undefined,
  place: 'path' | 'query',
  schemas: Schemas,
): SchemaObject[] {
  if (object === undefined) return [];
  return Object.entries(object.shape).map(([name, field]) => {
    // Boundary: Zod types the members of a shape by their core alone.
    const type = field as z.ZodType;
    const { description = place === 'path' ? 'The id of the resource.' : '', ...schema } = schemas.of(
      type,
      'input',
    );
    const required = place === 'path' || !type.safeParse(undefined).success;
    return {
      name,
      in: place,
      description,
      required,
      schema,
      example: schemas.example(schema, 'required'),
    };
  });
}
