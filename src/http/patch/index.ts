/** Applies the body of a PATCH, in any of the three media types, to a representation. */

import type { z } from 'zod';
import { isObject } from '../../json-object.ts';
import type { PatchBody } from '../endpoint.ts';
import {
  buildErrorDetail,
  createValidationError,
  type ErrorDetail,
  formatMessage,
  HttpError,
} from '../errors.ts';
import type { Parse } from '../request/parser.ts';
import { toErrorDetails } from '../schema.ts';
import { applyJsonPatch, applyMergePatch, equals, type Json } from './documents.ts';
import { findIgnoredChanges } from './read-only.ts';

export interface Patched<Fields> {
  /** Complete and valid. */
  readonly fields: Fields;
  /**
   * Must be called with the representation after the write, if no part of a patch may be ignored.
   * @throws HttpError 400 or 422 when the patch changed nested members that only the service writes
   */
  readonly confirm?: (after: Members) => void;
}

type Members = { readonly [member: string]: unknown };

/**
 * @param current the representation as a GET returns it
 * @param parse parses a complete replacement; members its schema does not know are read-only
 * @param readOnly members that no patch document may change
 * @returns the new fields, complete and valid
 * @throws HttpError 400 for a body that is not valid, and for a strict merge patch that changes a read-only member; 409
 * for a patch that does not apply; 422 for a patch document whose result is not valid or changes a read-only member
 */
export function patchRepresentation<Fields>(
  current: Members,
  body: PatchBody<object>,
  parse: Parse<Fields>,
  readOnly: readonly string[] = [],
): Fields {
  return patchNestedRepresentation(current, body, { parse, readOnly }).fields;
}

/** Like patchRepresentation, for representations with nested read-only members. @param shown their schema */
export function patchNestedRepresentation<Fields>(
  current: Members,
  body: PatchBody<object>,
  rules: {
    readonly parse: Parse<Fields>;
    readonly readOnly: readonly string[];
    readonly shown?: z.ZodObject;
  },
): Patched<Fields> {
  const { parse, readOnly, shown } = rules;
  // Boundary: a representation is JSON by definition.
  const document = current as { [member: string]: Json };
  const changed = applyChanges(document, body);
  const result = parse(changed);
  const invalid = result.success ? [] : toErrorDetails(result.error);
  const refuse = chooseRefusal(body);
  // Patch documents and strict merge patches are never ignored in part.
  if (body.kind === 'partial' || (body.kind === 'merge' && body.strict !== true)) {
    if (!result.success) throw refuse(invalid);
    return { fields: result.data };
  }
  const broken = findChangedMembers(changed, document, readOnly).map(name => readOnlyDetail([name]));
  // A merge patch is validated like other bodies first.
  const details = body.kind === 'merge' && invalid.length > 0 ? invalid : [...broken, ...invalid];
  if (!result.success || details.length > 0) throw refuse(details);
  const kept: unknown = result.data;
  const confirm = (after: Members) => {
    const ignored = findIgnoredChanges({ changed, document, kept, after, shown });
    if (ignored.length > 0) throw refuse(ignored.map(readOnlyDetail));
  };
  return { fields: result.data, confirm };
}

function applyChanges(document: { [member: string]: Json }, body: PatchBody<object>): unknown {
  if (body.kind === 'operations') return applyJsonPatch(document, body.patch);
  return body.kind === 'merge' ? mergeDocument(document, body.patch) : { ...document, ...body.changes };
}

/** The error for an invalid result: 422 for a patch document, which itself is well-formed; 400 for any other body. */
const chooseRefusal = ({ kind }: PatchBody<object>) =>
  kind === 'operations' ? createInvalidResultError : createValidationError;

/**
 * Checks and writes the result of a patch. Whatever rule the result of a patch document breaks, the error is the same.
 * @throws what `work` throws, except that a 400 about the result of a patch document becomes HttpError 422
 */
export async function checkResult<T>({ kind }: PatchBody<object>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfResult = error instanceof HttpError && error.code === 'VALIDATION_FAILED';
    throw kind === 'operations' && isOfResult ? createInvalidResultError(error.details ?? [], error) : error;
  }
}

function createInvalidResultError(details: readonly ErrorDetail[], cause?: HttpError): HttpError {
  return new HttpError('PATCH_RESULT_INVALID', {
    message: `${formatMessage(details)}; nothing was changed`,
    details,
    cause,
  });
}

function mergeDocument(document: Json, patch: unknown): Json {
  if (!isObject(patch)) {
    throw new HttpError('VALIDATION_FAILED', {
      message: 'body: a merge patch of a resource must be an object (RFC 7396)',
      details: [buildErrorDetail([], 'type', 'must be an object')],
    });
  }
  // Boundary: parsed from JSON by request/index.ts.
  return applyMergePatch(document, patch as Json);
}

/** The read-only members that a patch changes. */
function findChangedMembers(changed: unknown, document: Members, readOnly: readonly string[]): string[] {
  const members = isObject(changed) ? changed : {};
  return readOnly.filter(name => !isSame(members[name], document[name]));
}

const readOnlyDetail = (path: readonly (string | number)[]): ErrorDetail =>
  buildErrorDetail(path, 'readOnly', 'is read-only');

/** Whether two values are equal apart from nulls: a merge patch that repeats the shown nulls removes those members. */
const isSame = (changed: unknown, document: unknown): boolean =>
  equals(omitNulls(changed), omitNulls(document));

function omitNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(omitNulls);
  if (!isObject(value)) return value ?? undefined;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, omitNulls(member)]));
}
