/** Parses requests: their id, address, parameters and body, each with a specific error. */
import { z } from 'zod';
import { createBoundedMap } from '../../bounded-map.ts';
import { maxId } from '../../storage/database.ts';
import { holdsCredential } from '../credentials.ts';
import type { BodySpec, Endpoint, UploadBody } from '../endpoint.ts';
import { createFieldError, createValidationError, HttpError } from '../errors.ts';
import { json, jsonPatch, mergePatchJson } from '../negotiate.ts';
import { toErrorDetails } from '../schema.ts';
import { parseJson } from './json.ts';
import { createParser, type Parse } from './parser.ts';
import { getPrefixes } from './prefixed.ts';
import { computeIdentity, formData, getUploadLimit, parseUpload } from './upload.ts';

/** The client's X-Request-ID if it may be echoed and logged, otherwise a new id. */
export function readRequestId(headers: Headers): string {
  const given = headers.get('x-request-id');
  const isFit = given !== null && /^[\x20-\x7e]{1,255}$/.test(given) && !holdsCredential(given);
  return isFit ? given : crypto.randomUUID();
}

/** The API key in a query, before the query is parsed. */
export function findKeyParameter(search: string): string | undefined {
  // `api%5Fkey` is the same name (RFC 3986 §6.2.2.2).
  if (!search.includes('api_key') && !search.includes('%')) return undefined;
  return new URLSearchParams(search).get('api_key') ?? undefined;
}

/**
 * Parses the path parameters, which are ids unless the schema declares them as text. An integer that is not a possible
 * id becomes 0, which no row has, and thus a 404.
 * @throws HttpError 400 for an id that is not an integer; 404 for a text that the schema refuses
 */
export function parseParams(
  raw: Readonly<Record<string, string>>,
  schema: z.ZodObject | undefined,
): Record<string, number | string> {
  const ids: Record<string, number | string> = {};
  for (const name in raw) {
    const text = raw[name] ?? '';
    const field = schema?.shape[name];
    if (field instanceof z.ZodString) {
      if (!field.safeParse(text).success) throw new HttpError('NOT_FOUND');
      ids[name] = text;
      continue;
    }
    if (!/^-?\d+$/.test(text)) throw createFieldError(name, 'type', 'must be an integer');
    const id = Number(text);
    ids[name] = id >= 1 && id <= maxId ? id : 0;
  }
  return ids;
}

const cachedQueries = 2000;
const maxCachedLength = 300;

/**
 * Parses query strings with the schema of their endpoint. Results are cached, since callers repeat theirs. The parser
 * throws HttpError 400 for a query that is malformed, repeats a parameter, or breaks the schema.
 */
export function createQueryParser() {
  const bySchema = new Map<z.ZodObject, ReturnType<typeof createQueries>>();
  return ({ query }: Endpoint, search: string): unknown => {
    if (query === undefined) return undefined;
    const queries = bySchema.getOrInsertComputed(query, createQueries);
    const known = queries.parsed.get(search);
    if (known !== undefined) return known.parsed;
    const parsed = Object.freeze(parseQuery(queries, search));
    if (search.length <= maxCachedLength) queries.parsed.set(search, { parsed });
    return parsed;
  };
}

/** The cached queries of a schema, and the prefixes in it. */
function createQueries(schema: z.ZodObject) {
  const parsed = createBoundedMap<string, { readonly parsed: unknown }>(cachedQueries);
  return { parsed, prefixed: getPrefixes(schema), schema, parse: createParser(schema) };
}

function parseQuery({ schema, prefixed, parse }: ReturnType<typeof createQueries>, search: string): unknown {
  if (search.includes('%')) checkEncoding(search);
  const values: Record<string, unknown> = {};
  const groups = new Map<string, Record<string, string[]>>();
  for (const [name, value] of new URLSearchParams(search)) {
    const group = prefixed.find(({ prefix }) => name.startsWith(prefix));
    if (group !== undefined) {
      const members = groups.getOrInsertComputed(group.member, () => ({}));
      if (Object.hasOwn(members, name)) members[name]?.push(value);
      else members[name] = [value];
      continue;
    }
    if (!Object.hasOwn(schema.shape, name) || prefixed.some(({ member }) => member === name)) continue;
    const before = values[name];
    if (Array.isArray(before)) before.push(value);
    else if (isRepeatable(schema.shape[name])) values[name] = [value];
    else if (before !== undefined) throw createFieldError(name, 'repeated', 'must be given only once');
    else values[name] = value;
  }
  const result = parse({ ...values, ...Object.fromEntries(groups) });
  if (result.success) return result.data;
  // A problem with one of several values is reported for the parameter, under the name that the caller used.
  for (const issue of result.error.issues) {
    if (issue.path.length > 1 && groups.has(String(issue.path[0]))) issue.path.shift();
    else issue.path.length = Math.min(issue.path.length, 1);
  }
  throw createValidationError(toErrorDetails(result.error));
}

/** Whether a parameter may be repeated; its values are a list then. */
function isRepeatable(field: z.core.$ZodType | undefined): boolean {
  return field instanceof z.ZodOptional ? isRepeatable(field.unwrap()) : field instanceof z.ZodArray;
}

function checkEncoding(search: string): void {
  try {
    decodeURIComponent(search);
  } catch {
    throw createFieldError(
      'query',
      'encoding',
      'has a % that does not begin an encoded UTF-8 character (RFC 3986 section 2.1)',
    );
  }
}

/** Checks a value against a schema. The check throws HttpError 400 with every problem. */
type Check = (schema: z.ZodType, value: unknown) => unknown;

function createCheck(): Check {
  const parsers = new Map<z.ZodType, Parse<unknown>>();
  return (schema, value) => {
    const result = parsers.getOrInsertComputed(schema, createParser)(value);
    if (result.success) return result.data;
    throw createValidationError(toErrorDetails(result.error));
  };
}

export function getBodyTypes(body: BodySpec): readonly string[] {
  if (body.kind === 'upload') return [json, ...body.types, formData];
  return body.kind === 'patch' ? [json, mergePatchJson, jsonPatch] : [json];
}

/**
 * Maximum size in bytes of a body that anyone may send: bodies are in memory while they arrive, and a client that may
 * send all of its quota at once needs no credentials for these. The longest has a refresh token with every character escaped.
 */
const maxPublicBody = 32 * 1024;

/** Maximum size of a body in bytes. @param limit the limit if the operation has none of its own */
export function getBodyLimit(
  { access }: Pick<Endpoint, 'access'>,
  body: BodySpec,
  type: string,
  limit: number,
): number {
  if (body.kind === 'upload') return getUploadLimit(body, type, limit);
  if (body.kind === 'raw') return body.limit;
  return access.kind === 'public' ? Math.min(limit, maxPublicBody) : limit;
}

/** The bytes of a body that must be equal for a request to count as a repetition. */
export function computeBodyIdentity(body: BodySpec, parsed: unknown, bytes: Uint8Array): Uint8Array {
  if (body.kind !== 'upload') return bytes;
  // Boundary: `parseBody` built it from a body of this kind.
  const upload = parsed as UploadBody<unknown, unknown>;
  return upload.kind === 'file' ? computeIdentity(upload) : bytes;
}

/** How a body was sent: its Content-Type, its media type, and whether strict handling was requested. */
interface SentBody {
  readonly type: string;
  readonly contentType: string;
  readonly strict: boolean;
}

/**
 * Parses bodies. `inspect` receives the JSON value before it is checked, and may refuse it. The parser throws HttpError
 * 400 if the body does not match its type, or with every problem of its content; 413.
 */
export function createBodyParser() {
  const check = createCheck();
  return (body: BodySpec, sent: SentBody, bytes: Uint8Array, inspect: (value: unknown) => void): unknown => {
    const { type, strict } = sent;
    if (body.kind === 'raw') return bytes;
    if (body.kind === 'upload' && type !== json) return parseUpload(body, sent, bytes, { inspect, check });
    if (body.kind === 'json' && body.optional === true && bytes.length === 0) return undefined;
    const value = parseJson(bytes);
    inspect(value);
    if (body.kind === 'json') return check(body.schema, value);
    if (body.kind === 'upload') return { kind: 'json', value: check(body.schema, value) };
    // Merge patches and patch documents are checked later, by their result.
    if (type === jsonPatch) return { kind: 'operations', patch: value };
    if (type === mergePatchJson) return { kind: 'merge', patch: value, strict };
    return { kind: 'partial', changes: check(body.schema, value) };
  };
}
