/** Where a text stops being JSON, and why. JSON.parse reports no position, and quotes the text, which may hold a secret. */

interface SyntaxProblem {
  /** The index of the first character that cannot continue a JSON text. */
  readonly at: number;
  readonly reason: string;
}

/** What may come next. */
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end';

const literals = ['true', 'false', 'null'];
const word = /^['“„‘\w]/;

/** @returns undefined for JSON (RFC 8259) */
export function findSyntaxProblem(text: string): SyntaxProblem | undefined {
  const closers: string[] = [];
  let expected: Expected = 'value';
  const getNext = (): Expected => (closers.length === 0 ? 'end' : 'comma');
  for (let at = 0; ; ) {
    at = findEndOfBlanks(text, at);
    const character = text[at];
    const closer = closers.at(-1);
    const refuse = (): SyntaxProblem => ({ at, reason: describe(expected, character, closer) });
    if (character === undefined) return expected === 'end' ? undefined : refuse();
    if (character === closer && (expected === 'comma' || expected.startsWith('first'))) {
      closers.pop();
      expected = getNext();
      at++;
    } else if (expected === 'colon' || expected === 'comma') {
      if (character !== (expected === 'colon' ? ':' : ',')) return refuse();
      expected = expected === 'comma' && closer === '}' ? 'name' : 'value';
      at++;
    } else if (expected === 'value' || expected === 'first value') {
      if (character === '{' || character === '[') {
        closers.push(character === '{' ? '}' : ']');
        expected = character === '{' ? 'first name' : 'first value';
        at++;
        continue;
      }
      const end = character === '"' ? findEndOfString(text, at) : findEndOfScalar(text, at);
      if (end === undefined) return refuse();
      if (typeof end === 'object') return end;
      expected = getNext();
      at = end;
    } else {
      if (expected === 'end' || character !== '"') return refuse();
      const end = findEndOfString(text, at);
      if (typeof end === 'object') return end;
      expected = 'colon';
      at = end;
    }
  }
}

/** @returns the index after the number or literal; undefined if none begins there */
function findEndOfScalar(text: string, at: number): number | undefined {
  const literal = literals.find(one => text.startsWith(one, at));
  if (literal !== undefined) return at + literal.length;
  const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  number.lastIndex = at;
  return number.test(text) ? number.lastIndex : undefined;
}

function findEndOfBlanks(text: string, start: number): number {
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

/** @returns the index after the closing quotation mark, or what is wrong within */
function findEndOfString(text: string, start: number): number | SyntaxProblem {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20)
      return { at, reason: 'a line break or other control character in a text must be escaped, as \\n' };
    if (code !== 0x5c) continue;
    const length = measureEscape(text, at);
    if (length === undefined) return { at, reason: 'no such escape exists in JSON; a \\ is written \\\\' };
    at += length - 1;
  }
  return { at: start, reason: 'the text that begins here does not end' };
}

/** @returns undefined if no escape begins there */
function measureEscape(text: string, at: number): number | undefined {
  const kind = text.charAt(at + 1);
  if (kind === 'u') return /^[\dA-Fa-f]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : undefined;
  return kind !== '' && '"\\/bfnrt'.includes(kind) ? 2 : undefined;
}

function describe(expected: Expected, character: string | undefined, closer: string | undefined): string {
  if (character === undefined) return 'it ends too early';
  if (expected === 'end') return 'something follows its end';
  if (expected === 'colon') return 'a colon must follow the name';
  if (expected === 'comma') return `a comma or ${closer} must follow`;
  if (character === closer) return `the comma before ${closer} is one too many`;
  if (/[.+-]/.test(character)) return 'a number begins with a digit, or with - and a digit';
  if (!word.test(character)) return expected.endsWith('name') ? 'a name must follow' : 'a value must follow';
  if (expected.endsWith('name')) return 'names need double quotation marks';
  return 'texts need double quotation marks, and other words are only true, false and null';
}

/** The line and the column of an index, both from 1. */
export function formatPlace(text: string, at: number): string {
  let [line, start] = [1, 0];
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line++;
    start = end + 1;
  }
  return `line ${line}, column ${at - start + 1}`;
}
