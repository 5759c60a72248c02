/** Applies the body of a PATCH, in whichever of the three media types, to a representation. */

import type { z } from 'zod';
import { isObject } from '../../json-object.ts';
import type { PatchBody } from '../endpoint.ts';
import { type ErrorDetail, HttpError } from '../errors.ts';
import { invalidDetails, validationFailed } from '../request/index.ts';
import { detailsOf } from '../schema.ts';
import { applyJsonPatch, applyMergePatch, type Json } from './documents.ts';

/**
 * @param current the representation as a GET gives it
 * @param complete the schema of a complete replacement; members it does not know are read-only
 * @param readOnly members that no patch document may change
 * @returns the new fields, complete and valid
 * @throws HttpError 400 for a body that is not valid, and for a merge patch that changes a read-only member where nothing may
 *   be ignored, 409 for a patch that does not apply, 422 for a patch
 *   document whose result is not valid or changes a read-only member
 */
export function patched<S extends z.ZodType>(
  current: { readonly [member: string]: unknown },
  body: PatchBody<object>,
  complete: S,
  readOnly: readonly string[] = [],
): z.output<S> {
  // Boundary: a representation is JSON by definition.
  const document = current as { [member: string]: Json };
  if (body.kind === 'operations') return fromOperations(document, body.patch, complete, readOnly);
  const changed = body.kind === 'merge' ? merged(document, body.patch) : { ...document, ...body.changes };
  const result = complete.safeParse(changed);
  if (!result.success) throw validationFailed(result.error);
  if (body.kind === 'merge' && body.strict === true) {
    const details = readOnlyChanges(changed, document, result, readOnly);
    if (details.length > 0) throw invalidDetails(details);
  }
  return result.data;
}

function merged(document: Json, patch: unknown): Json {
  if (!isObject(patch)) {
    throw new HttpError('VALIDATION_FAILED', {
      message: 'body: a merge patch of a resource must be an object (RFC 7396)',
      details: [{ field: 'body', pointer: '#', code: 'type', message: 'must be an object' }],
    });
  }
  // Boundary: parsed from JSON by request/index.ts.
  return applyMergePatch(document, patch as Json);
}

function fromOperations<S extends z.ZodType>(
  document: { [member: string]: Json },
  patch: unknown,
  complete: S,
  readOnly: readonly string[],
): z.output<S> {
  const changed = applyJsonPatch(document, patch);
  const result = complete.safeParse(changed);
  const details = [
    ...readOnlyChanges(changed, document, result, readOnly),
    ...(result.success ? [] : detailsOf(result.error)),
  ];
  const first = details[0];
  if (result.success && first === undefined) return result.data;
  throw new HttpError('PATCH_RESULT_INVALID', {
    message: `${first?.field}: ${first?.message}; nothing was changed`,
    details,
  });
}

/** What a patch changes though only the service writes it. @param result what the schema makes of what is `changed` */
function readOnlyChanges(
  changed: unknown,
  document: Members,
  result: z.ZodSafeParseResult<unknown>,
  readOnly: readonly string[],
): ErrorDetail[] {
  const members = isObject(changed) ? changed : {};
  const broken = readOnly.filter(name => !isSame(members[name], document[name]));
  const inside = result.success ? brokenIn(members, document, result.data) : [];
  return [...broken, ...inside].map(path => ({
    field: path.replaceAll('/', '.'),
    pointer: `#/${path}`,
    code: 'readOnly',
    message: 'is read-only',
  }));
}

/** Whether two values say the same: a merge patch that sends back what it was shown removes what is null. */
const isSame = (changed: unknown, document: unknown): boolean =>
  JSON.stringify(changed, withoutNulls) === JSON.stringify(document, withoutNulls);

const withoutNulls = (_name: string, value: unknown): unknown => value ?? undefined;

type Members = Readonly<Record<string, unknown>>;

/**
 * The paths of members inside members that a patch changes, though only the service writes them: those that the
 * document has, and that the schema does not take over. What is left out stays, as in a complete replacement.
 */
function brokenIn(changed: Members, document: Members, kept: unknown): string[] {
  if (!isObject(kept)) return [];
  return Object.keys(kept).flatMap(name =>
    brokenInside(changed[name], document[name], kept[name]).map(path => `${name}/${path}`),
  );
}

function brokenInside(changed: unknown, document: unknown, kept: unknown): string[] {
  if (Array.isArray(changed) && Array.isArray(document) && Array.isArray(kept)) {
    // An item with an id is the same wherever it has been moved to.
    const counterpart = (item: unknown, index: number): unknown =>
      isObject(item) && item.id !== undefined
        ? document.find(other => isObject(other) && other.id === item.id)
        : document[index];
    return changed.flatMap((item, index) =>
      brokenInside(item, counterpart(item, index), kept[index]).map(path => `${index}/${path}`),
    );
  }
  if (!isObject(changed) || !isObject(document) || !isObject(kept)) return [];
  const others = Object.keys(document).filter(
    name => !Object.hasOwn(kept, name) && Object.hasOwn(changed, name),
  );
  const broken = others.filter(name => JSON.stringify(changed[name]) !== JSON.stringify(document[name]));
  return [...broken, ...brokenIn(changed, document, kept)];
}
