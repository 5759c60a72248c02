/**
 * `Prefer: handling=strict` (RFC 7240 §4.4): parts of a request that the operation would ignore are refused and named.
 * Without it, unknown parameters and members are ignored. This code runs only for requests with Prefer.
 */

import { z } from 'zod';
import { isObject } from '../../json-object.ts';
import { type BodySpec, type Endpoint, hasBody } from '../endpoint.ts';
import { createFieldError } from '../errors.ts';
import { jsonPatch, mergePatchJson } from '../negotiate.ts';
import { maxOperations, maxPointerLength, splitPointer } from '../patch/documents.ts';
import { getPrefixes } from './prefixed.ts';
import { type Path, Problems } from './problems.ts';
import { filePart, formData } from './upload.ts';

/** The value of Preference-Applied in responses to such requests. */
export const strictApplied = 'handling=strict';

/** Whether a Prefer header requests strict handling; the first `handling` preference counts (RFC 7240 §2). */
export function prefersStrict(prefer: string): boolean {
  for (const preference of split(prefer, ',')) {
    const [token = ''] = split(preference, ';');
    const equals = token.indexOf('=');
    if (equals === -1 || token.slice(0, equals).trim().toLowerCase() !== 'handling') continue;
    const value = token.slice(equals + 1).trim();
    const unquoted = value.replace(/^"(.*)"$/, (_, text: string) => text.replaceAll(/\\(.)/g, '$1'));
    return unquoted.toLowerCase() === 'strict';
  }
  return false;
}

/** The parts of a header between separators outside quoted strings (RFC 9110 §5.6.4). */
function* split(text: string, separator: string): Generator<string> {
  let start = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (quoted && character === '\\') index++;
    else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      yield text.slice(start, index);
      start = index + 1;
    }
  }
  yield text.slice(start);
}

/**
 * Refuses query parameters that the operation does not have. `api_key` is a credential and known everywhere.
 * @param search the query string without its question mark
 * @throws HttpError 400 that names each one
 */
export function refuseUnknownParameters({ query }: Endpoint, search: string): void {
  if (search === '') return;
  const prefixed = query === undefined ? [] : getPrefixes(query);
  // A member that stands for all parameters with a prefix is not itself a parameter.
  const known = Object.keys(query?.shape ?? {}).filter(
    name => !prefixed.some(({ member }) => member === name),
  );
  const problems = new Problems();
  for (const name of new Set(new URLSearchParams(search).keys())) {
    if (name === 'api_key' || known.includes(name)) continue;
    if (prefixed.some(({ prefix }) => name.startsWith(prefix))) continue;
    if (name === '') {
      problems.addUnnamed();
      continue;
    }
    problems.addUnknown([name], {
      known: /key/i.test(name) ? [...known, 'api_key'] : known,
      prefixes: prefixed.map(({ prefix }) => prefix),
    });
  }
  problems.refuse();
}

/** @throws HttpError 400 for a body that the operation would not read */
export function refuseUnreadBody({ body }: Endpoint, headers: Headers): void {
  if (body !== undefined || !hasBody(headers)) return;
  throw createFieldError([], 'unknown', 'must be absent: this operation does not read a body');
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * @returns a function that refuses unknown members of a body, and unknown parts of a form: HttpError 400 that names each
 * one. The schemas to walk are derived from those of the endpoints on first use
 */
export function createMemberCheck() {
  const made = { input: new WeakMap<z.ZodType, Shape>(), output: new WeakMap<z.ZodType, Shape>() };
  const getShape = (schema: z.ZodType, io: 'input' | 'output'): Shape =>
    made[io].getOrInsertComputed(schema, () => {
      // Boundary: a JSON Schema is an object.
      const root = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema;
      return new Shape(flattenSchema(root, root));
    });
  return (endpoint: Endpoint, body: BodySpec, type: string, value: unknown) => {
    if (body.kind === 'raw') return;
    const problems = new Problems();
    if (body.kind === 'upload' && type === formData) {
      const known = createFormShape(getShape(body.texts, 'input'));
      checkMembers(value, { known, readable: undefined }, [], problems);
      return problems.refuse();
    }
    const settable = getShape(body.schema, 'input');
    const shown = getShownSchema(endpoint);
    const readable = shown === undefined ? undefined : getShape(shown, 'output');
    if (type === jsonPatch) checkOperations(value, settable, readable, problems);
    else {
      // A merge patch may contain a read-only member; it is not ignored, but must leave the member unchanged.
      const known = type === mergePatchJson ? settable.and(readable) : settable;
      checkMembers(value, { known, readable }, [], problems);
    }
    problems.refuse();
  };
}

/**
 * The schema of the resource that an operation returns after it created or changed it: members that cannot be set are
 * read-only. A POST that creates nothing returns something other than the resource in its body.
 */
function getShownSchema({ method, responses }: Endpoint): z.ZodType | undefined {
  const { schema, representation = schema } = responses[method === 'POST' ? 201 : 200] ?? {};
  return representation;
}

/** A schema, and the root that its references point into. */
interface Rooted {
  readonly schema: Schema;
  readonly root: Schema;
}

/** The members that a value may have, according to one JSON Schema or to any of several. */
class Shape {
  /** Cached: a body may hold very many values of one shape. */
  private readonly parts = new Map<string | number, Shape | undefined>();
  readonly names: ReadonlySet<string> | undefined;
  readonly isList: boolean;

  constructor(private readonly schemas: readonly Rooted[]) {
    this.names = this.membersOf();
    this.isList = schemas.some(({ schema }) => isObject(schema.items));
  }

  and(other: Shape | undefined): Shape {
    return other === undefined ? this : new Shape([...this.schemas, ...other.schemas]);
  }

  /** The names of members; undefined if any name is allowed, as in a map or a value of any type. */
  private membersOf(): Set<string> | undefined {
    const names = new Set<string>();
    let hasMembers = false;
    for (const { schema } of this.schemas) {
      const { properties, additionalProperties } = schema;
      if (isObject(additionalProperties) && properties === undefined) return undefined;
      if (!isObject(properties)) continue;
      hasMembers = true;
      for (const name of Object.keys(properties)) names.add(name);
    }
    return hasMembers ? names : undefined;
  }

  /** The shape of a member, or of the items of an array at any index. */
  at(token: string | number): Shape | undefined {
    const key = typeof token === 'number' ? 0 : token;
    if (this.parts.has(key)) return this.parts.get(key);
    const part = this.partAt(key);
    // Names in a map are client input: caching them would fill the memory.
    if (key === 0 || this.names?.has(key) === true) this.parts.set(key, part);
    return part;
  }

  private partAt(token: string | number): Shape | undefined {
    const found = this.schemas.flatMap(({ schema, root }) => {
      const { properties, items, additionalProperties } = schema;
      const own = isObject(properties) && Object.hasOwn(properties, token) ? properties[token] : undefined;
      const part = own ?? (typeof token === 'number' ? items : additionalProperties);
      return isObject(part) ? flattenSchema(part, root) : [];
    });
    return found.length === 0 ? undefined : new Shape(found);
  }
}

/** The parts of a form: its file, and its texts. */
function createFormShape(texts: Shape): Shape {
  const schema = { properties: Object.fromEntries([[filePart, {}]]) };
  return new Shape([{ schema, root: schema }]).and(texts);
}

/** A schema's alternatives, with references followed. */
function flattenSchema(schema: Schema, root: Schema): Rooted[] {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.replace('#/$defs/', '');
    const target = isObject(root.$defs) ? root.$defs[name] : undefined;
    return isObject(target) ? flattenSchema(target, root) : [];
  }
  const parts = [anyOf, oneOf, allOf].flatMap(list => (Array.isArray(list) ? list.filter(isObject) : []));
  return [{ schema, root }, ...parts.flatMap(part => flattenSchema(part, root))];
}

interface Shapes {
  /** The members that may be sent. */
  readonly known: Shape;
  /** The members that are shown; those that may not be sent are read-only. */
  readonly readable: Shape | undefined;
}

function checkMembers(value: unknown, { known, readable }: Shapes, path: Path, problems: Problems): void {
  if (problems.isFull) return;
  const getShapes = (token: string | number): Shapes | undefined => {
    const part = known.at(token);
    return part === undefined ? undefined : { known: part, readable: readable?.at(token) };
  };
  if (Array.isArray(value)) {
    const items = getShapes(0);
    if (items === undefined) return;
    for (const [index, item] of value.entries()) checkMembers(item, items, [...path, index], problems);
    return;
  }
  const { names } = known;
  if (names === undefined || !isObject(value)) return;
  for (const name of Object.keys(value)) {
    // There may be very many further members.
    if (problems.isFull) return;
    const place = [...path, name];
    if (names.has(name)) {
      const part = getShapes(name);
      if (part !== undefined) checkMembers(value[name], part, place, problems);
    } else if (readable?.names?.has(name) === true) problems.addReadOnly(place);
    else problems.addUnknown(place, { known: names, ...(name === '' ? { name } : {}) });
  }
}

const operationMembers = ['op', 'path', 'value', 'from'];

/** A JSON Patch (RFC 6902): members of its operations, members their pointers name, and members of their values. */
function checkOperations(
  patch: unknown,
  settable: Shape,
  readable: Shape | undefined,
  problems: Problems,
): void {
  // A longer patch is refused elsewhere.
  if (!Array.isArray(patch) || patch.length > maxOperations) return;
  const shape = settable.and(readable);
  for (const [index, operation] of patch.entries()) {
    if (!isObject(operation)) continue;
    for (const name of Object.keys(operation)) {
      if (!operationMembers.includes(name)) problems.addUnknown([index, name], { known: operationMembers });
    }
    for (const name of ['path', 'from']) {
      const target = followPointer(operation[name], shape, [index, name], problems);
      if (name === 'path' && target !== undefined)
        checkMembers(operation.value, { known: target, readable: undefined }, [index, 'value'], problems);
    }
  }
}

/** The shape of the value that a JSON Pointer (RFC 6901) names; an unknown token is a problem at `path`. */
function followPointer(pointer: unknown, shape: Shape, path: Path, problems: Problems): Shape | undefined {
  // An invalid or overlong pointer is refused elsewhere.
  if (typeof pointer !== 'string' || pointer.length > maxPointerLength) return undefined;
  if (pointer !== '' && !pointer.startsWith('/')) return undefined;
  let at: Shape | undefined = shape;
  for (const token of splitPointer(pointer).slice(1)) {
    if (at === undefined) return undefined;
    if (at.isList && /^(-|\d+)$/.test(token)) {
      at = at.at(0);
      continue;
    }
    const known = at.names;
    if (known !== undefined && !known.has(token)) {
      problems.addUnknown(path, { known, name: token });
      return undefined;
    }
    at = at.at(token);
  }
  return at;
}
