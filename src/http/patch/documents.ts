/**
 * The two patch formats: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396), as pure functions from one JSON value
 * to another. They know no schema: their callers validate the result.
 */

import { isObject } from '../../json-object.ts';
import { quoteValue } from '../credentials.ts';
import { buildErrorDetail, type ErrorCode, type ErrorDetail, HttpError } from '../errors.ts';
import { weighValue } from './weight.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

type JsonObject = { [key: string]: Json };

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }
  | { readonly op: 'remove'; readonly path: string };

/** The members each operation must have (RFC 6902 §4). */
const requiredMembers = {
  add: ['op', 'path', 'value'],
  remove: ['op', 'path'],
  replace: ['op', 'path', 'value'],
  move: ['op', 'from', 'path'],
  copy: ['op', 'from', 'path'],
  test: ['op', 'path', 'value'],
} as const satisfies Record<Operation['op'], readonly string[]>;

export const maxOperations = 100;

/** Maximum length of a pointer, far beyond any resource. A patch follows many pointers, token by token. */
export const maxPointerLength = 1024;

/**
 * The maximum total size added by the copies of one patch, measured by `weighValue`. Without it, a hundred copies of a
 * document into itself would multiply it by 2^100. Other operations add no more than was sent.
 */
const maxCopied = 500_000;

const pointerRule = {
  code: 'format',
  text: `must be a JSON Pointer (RFC 6901) of at most ${maxPointerLength.toLocaleString('en')} characters`,
  accepts: isPointer,
} as const;

/** The rule of each member; the code and the text name the broken rule. */
const memberRules = {
  op: {
    code: 'enum',
    text: `must be one of ${Object.keys(requiredMembers).join(', ')}`,
    accepts: isOperationName,
  },
  path: pointerRule,
  from: pointerRule,
  // Any JSON value. Those of a body are not nested too deep to be walked (request/json.ts).
  value: { code: 'required', text: 'is required', accepts: () => true },
};

/**
 * Applies a JSON Patch document (RFC 6902), completely or not at all, and returns the patched document. Changes neither
 * argument and shares nothing with them.
 *
 * @throws HttpError MALFORMED_PATCH if `patch` is not a JSON Patch document (§3, §4), with all its problems in
 * `details`, or if its copies add too much; PATCH_TEST_FAILED if a `test` finds another value (§4.6);
 * PATCH_PATH_NOT_FOUND if a location does not exist, or would be moved into itself (§4.4).
 */
export function applyJsonPatch(document: Json, patch: unknown): Json {
  assertPatch(patch);
  // The document is the member with the empty name, so that the leading '' of a split pointer leads to it and the whole
  // document is a member like any other.
  const root = { '': clone(document) };
  let copied = 0;
  for (const [index, operation] of patch.entries()) {
    if (operation.op === 'copy') {
      const from = { index, member: 'from', pointer: operation.from } as const;
      copied += weighValue(find(root, from), maxCopied - copied);
      if (copied > maxCopied)
        throw createOperationError(
          'MALFORMED_PATCH',
          from,
          'maxCopied',
          'the copy operations add too much data',
        );
    }
    applyOperation(root, operation, index);
  }
  return root[''];
}

/**
 * Applies a JSON Merge Patch (RFC 7396 §2), which any JSON value is, and returns the patched document. Changes neither
 * argument; the result shares its unchanged parts with them.
 */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: JsonObject = isObject(document) ? { ...document } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else setMember(merged, name, applyMergePatch(findOwnMember(merged, name), value));
  }
  return merged;
}

/** Defines the member, because assigning to a member named `__proto__` would set the prototype instead. */
function setMember(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Refuses what is not a JSON Patch document; members the RFC does not define are ignored (RFC 6902 §4). */
function assertPatch(patch: unknown): asserts patch is Operation[] {
  const details = findPatchProblems(patch);
  const [first, ...others] = details;
  if (first === undefined) return;
  const rest = others.length > 0 ? ` (and ${others.length} more, see details)` : '';
  throw new HttpError('MALFORMED_PATCH', { message: `${first.message}${rest}`, details });
}

function findPatchProblems(patch: unknown): ErrorDetail[] {
  if (!Array.isArray(patch))
    return [buildErrorDetail([], 'type', 'The patch must be an array of operations.')];
  if (patch.length <= maxOperations) return patch.flatMap(findOperationProblems);
  return [buildErrorDetail([], 'maxItems', `The patch must have at most ${maxOperations} operations.`)];
}

function findOperationProblems(operation: unknown, index: number): ErrorDetail[] {
  if (!isObject(operation))
    return [buildErrorDetail([index], 'type', `Operation ${index} must be an object.`)];
  const op = findOwnMember(operation, 'op');
  const members = isOperationName(op) ? requiredMembers[op] : (['op', 'path'] as const);
  return members.flatMap(member => {
    const { code, text, accepts } = memberRules[member];
    const value = findOwnMember(operation, member);
    if (value !== undefined && accepts(value)) return [];
    const rule = value === undefined ? 'required' : code;
    return [buildErrorDetail([index, member], rule, `Operation ${index}: "${member}" ${text}.`)];
  });
}

/** A pointer, and the member of the operation that holds it. */
interface Place {
  readonly index: number;
  readonly member: 'path' | 'from';
  readonly pointer: string;
}

/** Applies one operation to the working copy, in place, by the equivalences RFC 6902 §4 states. */
function applyOperation(root: JsonObject, operation: Operation, index: number): void {
  const path = { index, member: 'path', pointer: operation.path } as const;
  switch (operation.op) {
    case 'add':
      put(root, path, clone(operation.value));
      break;
    case 'remove':
      if (path.pointer === '') throw createPathNotFoundError(path, 'the whole document cannot be removed');
      take(root, path);
      break;
    case 'replace':
      take(root, path);
      put(root, path, clone(operation.value));
      break;
    case 'move': {
      const from = { index, member: 'from', pointer: operation.from } as const;
      // A token has exactly one escaped form, so a prefix of the text is a prefix of the location.
      if (path.pointer.startsWith(`${from.pointer}/`))
        throw createPathNotFoundError(path, 'a value cannot be moved into itself');
      put(root, path, take(root, from));
      break;
    }
    case 'copy': {
      const from = { index, member: 'from', pointer: operation.from } as const;
      put(root, path, clone(find(root, from)));
      break;
    }
    case 'test':
      if (!equals(operation.value, find(root, path))) {
        throw createOperationError(
          'PATCH_TEST_FAILED',
          path,
          'test',
          'the value differs from the tested one',
        );
      }
  }
}

/** Inserts into an array, sets in an object (RFC 6902 §4.1). */
function put(root: JsonObject, place: Place, value: Json): void {
  const { parent, token } = locate(root, place.pointer);
  if (Array.isArray(parent)) {
    const index = token === '-' ? parent.length : parseArrayIndex(token);
    if (index === undefined || index > parent.length) throw createPathNotFoundError(place);
    parent.splice(index, 0, value);
  } else if (isObject(parent)) {
    setMember(parent, token, value);
  } else {
    throw createPathNotFoundError(place);
  }
}

/** Removes a value from its place and returns it (RFC 6902 §4.2). */
function take(root: JsonObject, place: Place): Json {
  const { parent, token } = locate(root, place.pointer);
  const taken = findChild(parent, token);
  if (taken === undefined) throw createPathNotFoundError(place);
  if (Array.isArray(parent)) parent.splice(Number(token), 1);
  else if (isObject(parent)) delete parent[token];
  return taken;
}

function find(root: JsonObject, place: Place): Json {
  const { parent, token } = locate(root, place.pointer);
  const found = findChild(parent, token);
  if (found === undefined) throw createPathNotFoundError(place);
  return found;
}

/** Follows all tokens of a pointer except the last (RFC 6901 §4). */
function locate(root: JsonObject, pointer: string): { parent: Json | undefined; token: string } {
  const tokens = splitPointer(pointer);
  const token = tokens.pop() ?? '';
  return { parent: tokens.reduce<Json | undefined>(findChild, root), token };
}

/** The tokens of a pointer, including the empty one before its first slash. */
export function splitPointer(pointer: string): string[] {
  // First ~1, then ~0, so that `~01` becomes `~1` and not `/`.
  return pointer.split('/').map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value a token leads to. Only own members count: `constructor` exists only if the document has it. */
function findChild(parent: Json | undefined, token: string): Json | undefined {
  if (Array.isArray(parent)) {
    const index = parseArrayIndex(token);
    return index === undefined ? undefined : parent[index];
  }
  return isObject(parent) ? findOwnMember(parent, token) : undefined;
}

function parseArrayIndex(token: string): number | undefined {
  return /^(?:0|[1-9][0-9]*)$/.test(token) ? Number(token) : undefined;
}

function findOwnMember<T>(object: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Copies a tree. `structuredClone` keeps a part that occurs twice as one; a change would then affect both. */
function clone(value: Json): Json {
  if (Array.isArray(value)) return value.map(clone);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clone(member)]));
}

/** Equality of JSON values (RFC 6902 §4.6): numbers by value, objects regardless of order. */
export function equals(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equals(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const members = Object.entries(a);
  return (
    members.length === Object.keys(b).length &&
    members.every(([name, value]) => equals(value, findOwnMember(b, name)))
  );
}

function isOperationName(value: unknown): value is Operation['op'] {
  return typeof value === 'string' && Object.hasOwn(requiredMembers, value);
}

/** The syntax of RFC 6901 §3. */
function isPointer(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > maxPointerLength) return false;
  return (value === '' || value.startsWith('/')) && !/~(?![01])/.test(value);
}

function createPathNotFoundError(place: Place, reason = 'there is no such location'): HttpError {
  return createOperationError('PATCH_PATH_NOT_FOUND', place, 'exists', reason);
}

function createOperationError(code: ErrorCode, place: Place, rule: string, reason: string): HttpError {
  const { index, member, pointer } = place;
  const message = `Operation ${index}, "${member}" ${quoteValue(pointer, maxPointerLength)}: ${reason}; nothing was changed.`;
  return new HttpError(code, { message, details: [buildErrorDetail([index, member], rule, message)] });
}
