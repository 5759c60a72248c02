/** Reads the records of a JSON array, anywhere in the document. */
import { countLines, type DecodedText, readWholeCharacters } from './read-text.ts';
import {
  createUnreadableRecord,
  holdsDamage,
  maxRawOfTooLong,
  maxRecordLength,
  notUtf8,
  parseRecord,
  type SourceRecord,
  tooLong,
} from './record.ts';

const severalObjects = 'the object; several objects must be on lines of their own';

/** Why no more records can be read, as a phrase for people. */
class Problem extends Error {}

/** The text of one value. */
interface Value {
  /** Only the beginning of a value that is longer than a record may be. */
  readonly text: string;
  /** The line on which it starts. */
  readonly line: number;
  readonly isTooLong: boolean;
  /** Whether some bytes around it were not UTF-8. */
  readonly isDamaged: boolean;
  /** False if the file ends within the value. */
  readonly isWhole: boolean;
}

/** What ends a number or a word, and is not part of it. */
const afterWord = ' \t\r\n,]}';

const quote = 34;
const backslash = 92;
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];

/**
 * Finds the end of one value, or of `depth` open brackets, without building it. What is skipped is not checked;
 * elements are checked when they are parsed.
 * @param isWord whether the value is a number or a word
 * @returns a function that takes the text piece by piece, and returns the index after the value; undefined if it
 *   continues in the next piece
 */
function createEndFinder(depth: number, isWord: boolean) {
  let left = depth;
  let [isQuoted, isEscaped] = [false, false];
  return (text: string, from: number): number | undefined => {
    for (let at = from; at < text.length; at += 1) {
      if (isWord) {
        if (afterWord.includes(text.charAt(at))) return at;
        continue;
      }
      const code = text.charCodeAt(at);
      if (isEscaped) isEscaped = false;
      else if (code === quote) isQuoted = !isQuoted;
      else if (isQuoted) isEscaped = code === backslash;
      else if (code === openBracket || code === openBrace) left += 1;
      else if (code === closeBracket || code === closeBrace) left -= 1;
      if (left <= 0 && !isQuoted) return at + 1;
    }
    return undefined;
  };
}

/** JSON text that arrives in pieces. */
class JsonText {
  line = 1;
  readonly #pieces: AsyncIterator<DecodedText>;
  readonly #notSpace = /[^ \t\r\n]/g;
  #text = '';
  #at = 0;
  #isDamaged = false;

  constructor(pieces: AsyncIterator<DecodedText>) {
    this.#pieces = pieces;
  }

  /** The next character that is no space, which stays unread; empty at the end of the file. */
  async peek(): Promise<string> {
    for (;;) {
      this.#notSpace.lastIndex = this.#at;
      const found = this.#notSpace.exec(this.#text);
      this.#advance(found?.index ?? this.#text.length);
      if (found !== null) return found[0];
      if (!(await this.#load())) return '';
    }
  }

  /** Like `peek`, but reads the character. */
  async next(): Promise<string> {
    const character = await this.peek();
    this.#advance(this.#at + character.length);
    return character;
  }

  /** Reads the next value, or the rest of values to the end of `depth` open brackets. */
  async readValue(depth = 0): Promise<Value> {
    const first = await this.peek();
    const { line } = this;
    const findEnd = createEndFinder(depth, depth === 0 && !'"[{'.includes(first));
    let [text, length, isDamaged] = ['', 0, this.#isDamaged];
    for (;;) {
      const end = findEnd(this.#text, this.#at);
      const isWhole = end !== undefined;
      const part = this.#text.slice(this.#at, end);
      length += part.length;
      text += part;
      const isTooLong = length > maxRecordLength;
      if (isTooLong) text = text.slice(0, maxRawOfTooLong);
      this.#advance(this.#at + part.length);
      if (isWhole || !(await this.#load())) return { text, line, isTooLong, isDamaged, isWhole };
      isDamaged ||= this.#isDamaged;
    }
  }

  #advance(to: number): void {
    const passed = this.#text.slice(this.#at, to);
    this.line += countLines(passed, 0, passed.length);
    this.#at = to;
  }

  async #load(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (done === true) return false;
    this.#text = this.#text.slice(this.#at) + value.text;
    this.#at = 0;
    this.#isDamaged = value.damaged;
    return true;
  }
}

/** Reads up to the value of the next member of an object. @returns its name; undefined at the end of the object */
async function readName(json: JsonText, missing: string): Promise<string | undefined> {
  let sign = await json.peek();
  for (; sign === ','; sign = await json.peek()) await json.next();
  if (sign === '') throw new Problem(missing);
  if (sign === '}') return undefined;
  if (sign !== '"') throw new Problem('is not valid JSON: a member name is expected');
  const { text } = await json.readValue();
  const colon = await json.next();
  if (colon !== ':') throw new Problem(colon === '' ? missing : 'is not valid JSON: a colon is expected');
  return text.slice(1, -1);
}

/**
 * Reads up to the first element of the array.
 * @returns how many objects are open around it; undefined if the root object has only empty arrays
 */
async function findArray(json: JsonText, path: readonly string[]): Promise<number | undefined> {
  const missing = path.length === 0 ? 'has no array of objects' : `has no array at "${path.join('.')}"`;
  for (const name of path) {
    if ((await json.next()) !== '{') throw new Problem(missing);
    for (let own = await readName(json, missing); own !== name; own = await readName(json, missing)) {
      if (own === undefined) throw new Problem(missing);
      await json.readValue();
    }
  }
  const begin = await json.next();
  if (begin === '[') return path.length;
  if (begin !== '{' || path.length > 0) throw new Problem(missing);
  let hasEmpty = false;
  while ((await readName(json, missing)) !== undefined) {
    const isArray = (await json.peek()) === '[';
    if (isArray) await json.next();
    const first = await json.peek();
    if (isArray && first === '{') return 1;
    hasEmpty ||= isArray && first === ']';
    await json.readValue(isArray ? 1 : 0);
  }
  if (!hasEmpty) throw new Problem(missing);
  await json.next();
  return undefined;
}

function toRecord({ text, line, isTooLong, isDamaged }: Value): SourceRecord {
  if (isTooLong) return createUnreadableRecord(line, tooLong, text);
  return holdsDamage(isDamaged, text) ? createUnreadableRecord(line, notUtf8, text) : parseRecord(line, text);
}

async function* readElements(json: JsonText): AsyncGenerator<SourceRecord[]> {
  for (let count = 0; ; count += 1) {
    const begin = await json.peek();
    if (begin === '') throw new Problem('ends before its array does');
    if (begin === ']' && count === 0) break;
    if (',]}'.includes(begin)) throw new Problem('is not valid JSON: an element is expected');
    const value = await json.readValue();
    if (!value.isWhole) {
      const raw = value.text.slice(0, maxRawOfTooLong);
      yield [createUnreadableRecord(value.line, 'is incomplete: the file ends', raw)];
      return;
    }
    yield [toRecord(value)];
    const end = await json.peek();
    if (end === '') throw new Problem('ends before its array does');
    if (end === ']') break;
    if (end !== ',') throw new Problem('is not valid JSON: a comma or the end of the array is expected');
    await json.next();
  }
  await json.next();
}

async function* readArray(json: JsonText, path: readonly string[]): AsyncGenerator<SourceRecord[]> {
  const open = await findArray(json, path);
  if (open !== undefined) yield* readElements(json);
  // The rest of the object is of no use, but another object after it has records that must not be lost.
  if (open !== undefined && open > 0) await json.readValue(open);
  if ((await json.peek()) !== '')
    throw new Problem(
      `is not valid JSON: text follows the end of ${open === 0 ? 'the array' : severalObjects}`,
    );
}

/**
 * Reads the elements of one JSON array, in any layout. `path` is the dotted path of the array's member (`data.items`).
 * Without it, reads the root array, or the first member of the root object that is an array of objects, or else an
 * empty one. An element that is not a valid object becomes a record with an error. Invalid JSON around the elements
 * becomes such a record, and the last one. Throws only what the source throws.
 */
export async function* readJson(
  source: AsyncIterable<Uint8Array>,
  path: string | undefined,
): AsyncGenerator<SourceRecord[]> {
  const pieces = readWholeCharacters(source);
  const json = new JsonText(pieces);
  try {
    yield* readArray(json, path === undefined || path === '' ? [] : path.split('.'));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    yield [createUnreadableRecord(json.line, error.message, '')];
  } finally {
    await pieces.return(undefined);
  }
}
