/** The outcome of a patch: its result or its refusal. */
import { type ErrorCode, HttpError } from '../../../src/http/errors.ts';
import type { Json } from '../../../src/http/patch/documents.ts';

/** Runs `patch` and returns its HttpError; fails on any other outcome. */
export function refusal(patch: () => unknown): HttpError {
  try {
    patch();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('the patch was applied');
}

/** The result of a patch, or the code of its refusal, in a form that can be compared. */
export function outcome(patch: () => Json): { result: Json } | { code: ErrorCode } {
  try {
    return { result: patch() };
  } catch (error) {
    if (error instanceof HttpError) return { code: error.code };
    throw error;
  }
}
