/** Bodies of requests and successes, in every media type that they may have. */
import { isObject } from '../../json-object.ts';
import {
  type BodySpec,
  type Endpoint,
  getMediaTypes,
  honoursIdempotency,
  type ResponseSpec,
  type UploadSpec,
} from '../endpoint.ts';
import { halJson, json, jsonPatch, mergePatchJson, toEssence, toVendorType } from '../negotiate.ts';
import { getBodyTypes } from '../request/index.ts';
import { formData } from '../request/upload.ts';
import { isConditional } from './errors.ts';
import { buildHeaders, type ParticularHeader } from './headers.ts';
import { addValueTexts, type SchemaObject, type Schemas } from './schemas.ts';

export function buildRequestBody(body: BodySpec, schemas: Schemas): SchemaObject {
  const schema = schemas.of(body.schema, 'input');
  const example = body.example ?? schemas.example(schema, 'required');
  const content = getBodyTypes(body).map(type => {
    if (type === jsonPatch)
      return [type, { schema: schemas.named('JsonPatch', jsonPatchSchema), example: buildPatch(example) }];
    if (body.kind === 'upload' && type === formData) return [type, buildFormBody(body, schemas)];
    if (type === mergePatchJson)
      return [type, { schema: buildMergePatch(schema, example, schemas), example }];
    return [type, body.kind === 'upload' && type !== json ? buildFileBody(type) : { schema, example }];
  });
  const required = body.kind !== 'json' || body.optional !== true;
  return { required, description: 'The request body.', content: Object.fromEntries(content) };
}

function buildFormBody({ texts }: UploadSpec, schemas: Schemas): SchemaObject {
  const { properties, ...schema } = schemas.of(texts, 'input');
  const file = {
    type: 'string',
    format: 'binary',
    maxLength: 2_147_483_647,
    description: 'The file; its content determines the type.',
  };
  return {
    schema: { ...schema, properties: { file, ...Object(properties) }, required: ['file'] },
    example: { file: '…' },
  };
}

/**
 * The schema of a merge patch (RFC 7396), which also changes members of nested objects, and removes those that are null:
 * that of the partial object if it has no nested objects, else a component of its own.
 */
function buildMergePatch(partial: SchemaObject, example: unknown, schemas: Schemas): SchemaObject {
  const name = String(partial.$ref).split('/').at(-1);
  const { properties, ...schema } = schemas.resolve(partial);
  const merged = mapMembers(properties, member => mergeNested(member, schemas));
  if (JSON.stringify(merged) === JSON.stringify(properties)) return partial;
  const description = 'A merge patch (RFC 7396): objects are merged, and null removes a member.';
  return schemas.named(`Merge${name}`, { ...schema, description, examples: [example], properties: merged });
}

/** An object in a merge patch: without the rules for the whole, since the patch has only some of its members. */
function mergeNested(member: SchemaObject, schemas: Schemas): SchemaObject {
  const { anyOf } = member;
  if (Array.isArray(anyOf))
    return { ...member, anyOf: anyOf.map(part => mergeNested(Object(part), schemas)) };
  const { required: _, maxProperties: _most, examples: _whole, ...schema } = schemas.resolve(member);
  if (![schema.type].flat().includes('object')) return member;
  const { properties, additionalProperties: others } = schema;
  const toRemovable = (nested: SchemaObject) => toNullableMember(mergeNested(nested, schemas));
  return {
    ...schema,
    ...(isObject(properties) ? { properties: mapMembers(properties, toRemovable) } : {}),
    ...(isObject(others) ? { additionalProperties: toRemovable(others) } : {}),
  };
}

function toNullableMember(schema: SchemaObject): SchemaObject {
  const { description, anyOf, ...value } = schema;
  const parts = Array.isArray(anyOf) ? anyOf : [value];
  if (parts.some(part => [part.type].flat().includes('null'))) return schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [...parts, { type: 'null' }] };
}

const mapMembers = (members: unknown, change: (member: SchemaObject) => SchemaObject): SchemaObject =>
  Object.fromEntries(Object.entries(Object(members)).map(([name, member]) => [name, change(Object(member))]));

/** The JSON Patch equivalent to a partial object. */
function buildPatch(partial: unknown): SchemaObject[] {
  if (!isObject(partial)) return [];
  return Object.entries(partial).map(([name, value]) => ({ op: 'replace', path: `/${name}`, value }));
}

/** @param version the version, whose media type is also served; undefined for endpoints outside the versions */
export function buildSuccessResponse(
  endpoint: Endpoint,
  status: number,
  spec: ResponseSpec,
  version: string | undefined,
  schemas: Schemas,
): SchemaObject {
  const hasBody = spec.schema !== undefined || spec.mediaType !== undefined;
  const own = getSuccessHeaders(endpoint, status, hasBody);
  // In OpenAPI 3.1 a reference may have its own description.
  if (!hasBody && own.length === 0 && spec.headers === undefined)
    return { $ref: '#/components/responses/NoContent', description: spec.description };
  return {
    description: spec.description,
    headers: buildHeaders(own, spec.headers),
    ...(hasBody ? buildSuccessContent(endpoint, spec, version, schemas) : {}),
  };
}

function getSuccessHeaders(endpoint: Endpoint, status: number, hasBody: boolean): ParticularHeader[] {
  const own: ParticularHeader[] = [];
  if (hasBody) own.push('Content-Encoding');
  // Responses that must not be repeated hold credentials, and those are never tagged.
  const isTagged = endpoint.method === 'GET' ? isConditional(endpoint) : endpoint.idempotent !== false;
  if (hasBody && isTagged) own.push('ETag', 'Last-Modified');
  if (status === 201) own.push('Location');
  if (honoursIdempotency(endpoint)) own.push('Idempotency-Replayed');
  return own;
}

/**
 * If JSON is one of several media types, it is the `content`, and `x-alternative-content` describes the others in the
 * same form. Code generated from the document then reads JSON, which is the response to a request that names no type.
 */
function buildSuccessContent(
  endpoint: Endpoint,
  spec: ResponseSpec,
  version: string | undefined,
  schemas: Schemas,
): SchemaObject {
  const usual = version === undefined ? [json] : [json, toVendorType(version)];
  const types = getMediaTypes(endpoint, spec, usual).map(toEssence);
  // The type depends on the file; clients read bytes in any case.
  if (types.every(type => type.startsWith('image/')))
    return { content: { 'image/*': buildFileBody('image/*') } };
  const schema = spec.schema === undefined ? undefined : schemas.of(spec.schema, 'output');
  const hypermedia = spec.hal === undefined ? undefined : schemas.of(spec.hal, 'output');
  const described = new Map(
    types.map((type): [string, SchemaObject] => {
      if (spec.otherMediaTypes?.includes(type) === true) return [type, buildFileBody(type)];
      if (schema === undefined || !type.endsWith('json')) return [type, buildTextBody(spec.example)];
      return [type, buildJsonBody(type === halJson ? (hypermedia ?? schema) : schema, spec.example, schemas)];
    }),
  );
  const usually = described.get(json);
  if (usually === undefined) return { content: Object.fromEntries(described) };
  described.delete(json);
  const others = described.size === 0 ? {} : { 'x-alternative-content': Object.fromEntries(described) };
  return { content: { [json]: usually }, ...others };
}

/** The component of a reference has its own example. */
function buildJsonBody(schema: SchemaObject, example: unknown, schemas: Schemas): SchemaObject {
  if (schema.$ref !== undefined && example === undefined) return { schema };
  return { schema, example: example ?? schemas.example(schema, 'all') };
}

/** Bytes, which OpenAPI 3.1 describes by media type. */
const buildFileBody = (type: string): SchemaObject => ({
  schema: { contentMediaType: type },
  example: '…',
});

function buildTextBody(example: unknown): SchemaObject {
  const schema = { type: 'string', maxLength: 2_147_483_647, pattern: '^[\\s\\S]*$' };
  return { schema, example: example ?? '…' };
}

const pointer = {
  type: 'string',
  format: 'json-pointer',
  maxLength: 1024,
  description: 'A JSON Pointer (RFC 6901).',
};

const buildOperationSchema = (ops: readonly string[], members: SchemaObject): SchemaObject => ({
  type: 'object',
  properties: {
    op: addValueTexts({ type: 'string', enum: ops, description: 'The operation.' }),
    path: pointer,
    ...members,
  },
  required: ['op', 'path', ...Object.keys(members)],
});

const jsonPatchSchema: SchemaObject = {
  type: 'array',
  description: 'JSON Patch (RFC 6902): applied as a whole or not at all.',
  maxItems: 100,
  items: {
    oneOf: [
      buildOperationSchema(['add', 'replace', 'test'], { value: { description: 'Any JSON value.' } }),
      buildOperationSchema(['remove'], {}),
      buildOperationSchema(['move', 'copy'], { from: pointer }),
    ],
  },
  examples: [
    [
      { op: 'test', path: '/version', value: 3 },
      { op: 'replace', path: '/name', value: 'A better name' },
    ],
  ],
};
