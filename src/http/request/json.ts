/** JSON bodies: what is refused before anything parses them, and what is wrong with one that cannot be parsed. */
import { HttpError } from '../errors.ts';

/** Nesting of arrays and objects in a body, at most. */
const deepest = 64;
/** Members of all its objects. No body that is taken has so many, and the parser gives each other name a shape of its own. */
const mostMembers = 10_000;
/** Commas between members and between elements: the parser looks up each text among elements, too. */
const mostCommas = 20_000;

/**
 * A byte order mark before it is left out (RFC 8259 §8.1).
 * @throws HttpError 400 MALFORMED_JSON: not UTF-8, not JSON, nested too deep, or of too many parts
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
  } catch (error) {
    // Without what it quotes, which may be a password that lacks its quotation marks.
    const message = error instanceof Error ? error.message : '';
    const reason = /^(?:JSON Parse error: )?([^"]+)/.exec(message)?.[1]?.trim() ?? 'unknown';
    throw createMalformedJsonError(`is not well-formed JSON: ${reason}`);
  }
}

const createMalformedJsonError = (problem: string): HttpError =>
  new HttpError('MALFORMED_JSON', { message: `The body ${problem}.` });

/**
 * Looks at what stands outside strings only, before anything recursive sees the text.
 * @returns the first limit that the text is beyond
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
      if (++depth > deepest) return `is nested deeper than ${deepest} levels`;
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x3a) {
      if (++members > mostMembers)
        return `has more than ${mostMembers.toLocaleString('en')} members of objects`;
    } else if (code === 0x2c && ++commas > mostCommas)
      return `has more than ${mostCommas.toLocaleString('en')} members and elements`;
  }
  return undefined;
}
