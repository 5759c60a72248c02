/** JSON bodies: limits checked before parsing, and errors that say what is wrong. */
import { maxDepth } from '../../json-object.ts';
import { HttpError } from '../errors.ts';
import { findSyntaxProblem, formatPlace } from './json-syntax.ts';

/**
 * Maximum members of all objects: the parser creates a shape for each new name. Only a bulk PATCH with a change for each
 * of very many rows needs more, and can be sent in parts.
 */
export const maxMembers = 10_000;
/** Maximum characters of a text that is searched for its error: one of 1 MiB may take more than 50 ms. */
const maxSearched = 256 * 1024;
/** Maximum commas between members and elements: the parser also looks up each string among elements. */
const maxCommas = 20_000;

/**
 * Parses JSON; a leading byte order mark is ignored (RFC 8259 §8.1).
 * @throws HttpError 400 MALFORMED_JSON: not UTF-8, not JSON, nested too deep, or too many parts
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw createMalformedJsonError('is not valid UTF-8');
  }
  if (text.trim() === '') throw createMalformedJsonError('is empty; JSON is expected');
  const broken = findBrokenLimit(text);
  if (broken !== undefined) throw createMalformedJsonError(broken);
  try {
    return JSON.parse(text);
  } catch {
    const problem = text.length > maxSearched ? undefined : findSyntaxProblem(text);
    const detail = problem === undefined ? '' : ` (${formatPlace(text, problem.at)}): ${problem.reason}`;
    throw createMalformedJsonError(`is not well-formed JSON${detail}`);
  }
}

const createMalformedJsonError = (problem: string): HttpError =>
  new HttpError('MALFORMED_JSON', { message: `The body ${problem}.` });

/**
 * Examines only characters outside strings, before anything recursive reads the text.
 * @returns the first limit that the text exceeds
 */
function findBrokenLimit(text: string): string | undefined {
  let [depth, members, commas] = [0, 0, 0];
  let isString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) isString = false;
    } else if (code === 0x22) isString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x3a) {
      if (++members > maxMembers)
        return `has more than ${maxMembers.toLocaleString('en')} members of objects`;
    } else if (code === 0x2c && ++commas > maxCommas)
      return `has more than ${maxCommas.toLocaleString('en')} members and elements`;
  }
  return undefined;
}
