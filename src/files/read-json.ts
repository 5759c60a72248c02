/** Reads the records of a JSON array, anywhere in the document. */
import { ArraySeeker, isSpace, ValueScanner } from './read-json-scan.ts';
import { type DecodedText, readWholeCharacters } from './read-text.ts';
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

const closeBracket = 93;
const closeBrace = 125;
const comma = 44;
const newline = 10;

type ElementState = 'seek' | 'first' | 'next' | 'element' | 'after' | 'rest' | 'root end' | 'end';

const severalObjects = 'the object; several objects must be on lines of their own';

/** Turns pieces of text into the records of one array. */
class JsonArrayParser {
  #state: ElementState = 'seek';
  #line = 1;
  readonly #path: readonly string[];
  readonly #seeker: ArraySeeker;
  readonly #scanner = new ValueScanner();
  /** The part of the current element in earlier pieces; only its beginning if the element is too long. */
  #part = '';
  #length = 0;
  #startLine = 1;
  #damaged = false;
  readonly #records: SourceRecord[] = [];

  constructor(path: readonly string[]) {
    this.#path = path;
    this.#seeker = new ArraySeeker(path);
  }

  /** True when no more text will be read. */
  get ended(): boolean {
    return this.#state === 'end';
  }

  parse(piece: DecodedText): SourceRecord[] {
    this.#damaged = piece.damaged || (this.#damaged && this.#state === 'element');
    let at = 0;
    while (at < piece.text.length && this.#state !== 'end') at = this.#step(piece.text, at);
    return this.#records.splice(0);
  }

  /** Must be called at the end of the file. */
  finish(): SourceRecord[] {
    if (this.#state === 'element') this.#fail('is incomplete: the file ends', this.#startLine);
    else if (this.#state === 'seek') this.#fail(this.#seeker.missing);
    else if (this.#state !== 'rest' && this.#state !== 'root end' && this.#state !== 'end')
      this.#fail('ends before its array does');
    return this.#records.splice(0);
  }

  #fail(reason: string, line = this.#line): void {
    this.#records.push(createUnreadableRecord(line, reason, this.#part.slice(0, maxRawOfTooLong)));
    this.#state = 'end';
  }

  #step(text: string, at: number): number {
    if (this.#state === 'element') return this.#scanElement(text, at);
    if (this.#state === 'seek') return this.#seek(text, at);
    if (this.#state === 'rest') return this.#skipRest(text, at);
    const code = text.charCodeAt(at);
    if (code === newline) this.#line += 1;
    if (isSpace(code)) return at + 1;
    switch (this.#state) {
      case 'first':
      case 'next':
        if (code === closeBracket && this.#state === 'first') return this.#endArray(at);
        if (code === comma || code === closeBracket || code === closeBrace) {
          this.#fail('is not valid JSON: an element is expected');
          return at;
        }
        this.#startElement();
        return at;
      case 'after':
        if (code === closeBracket) return this.#endArray(at);
        if (code === comma) this.#state = 'next';
        else this.#fail('is not valid JSON: a comma or the end of the array is expected');
        return at + 1;
      default:
        this.#fail(
          `is not valid JSON: text follows the end of ${this.#seeker.isRoot ? 'the array' : severalObjects}`,
        );
        return at;
    }
  }

  #seek(text: string, at: number): number {
    const end = this.#seeker.scan(text, at);
    this.#line += this.#seeker.lines;
    if (this.#seeker.problem !== undefined) this.#fail(this.#seeker.problem);
    else if (this.#seeker.found) this.#state = 'first';
    else if (this.#seeker.isEmpty) this.#state = 'root end';
    return end;
  }

  /** The rest of an object with the array is of no use, but another object after it has records that must not be lost. */
  #endArray(at: number): number {
    this.#state = this.#seeker.isRoot ? 'root end' : 'rest';
    // Each name of the path is that of a member of an open object.
    this.#scanner.start(Math.max(this.#path.length, 1));
    return at + 1;
  }

  #skipRest(text: string, at: number): number {
    const end = this.#scanner.scan(text, at);
    this.#line += this.#scanner.lines;
    if (this.#scanner.done) this.#state = 'root end';
    return end;
  }

  #startElement(): void {
    this.#scanner.start();
    this.#startLine = this.#line;
    this.#part = '';
    this.#length = 0;
    this.#state = 'element';
  }

  #scanElement(text: string, at: number): number {
    const end = this.#scanner.scan(text, at);
    this.#line += this.#scanner.lines;
    this.#length += end - at;
    if (this.#length > maxRecordLength)
      this.#part = (this.#part + text.slice(at, end)).slice(0, maxRawOfTooLong);
    else this.#part += text.slice(at, end);
    if (!this.#scanner.done) return end;
    this.#records.push(this.#element(this.#part));
    this.#part = '';
    this.#state = 'after';
    return end;
  }

  #element(text: string): SourceRecord {
    if (this.#length > maxRecordLength) return createUnreadableRecord(this.#startLine, tooLong, text);
    if (holdsDamage(this.#damaged, text)) return createUnreadableRecord(this.#startLine, notUtf8, text);
    return parseRecord(this.#startLine, text);
  }
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
  const parser = new JsonArrayParser(path === undefined || path === '' ? [] : path.split('.'));
  for await (const piece of readWholeCharacters(source)) {
    yield parser.parse(piece);
    if (parser.ended) return;
  }
  yield parser.finish();
}
