/**
 * Finds values in JSON text that arrives in pieces, without building them: where a value ends, and where the
 * requested array begins. Skipped text is not checked; elements are checked when they are parsed.
 */

const quote = 34;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;
const comma = 44;
const colon = 58;
const newline = 10;

export function isSpace(code: number): boolean {
  return code === 32 || code === newline || code === 13 || code === 9;
}

/** Follows one value to its end, over any number of pieces of text. */
export class ValueScanner {
  /** True once the value has ended. */
  done = true;
  /** How many newlines the last call of `scan` passed. */
  lines = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #primitive = false;

  /** Starts a value at the next character that `scan` sees, or inside one, after `depth` of its opening brackets. */
  start(depth = 0): void {
    this.done = false;
    this.#depth = depth;
    this.#inString = false;
    this.#escaped = false;
    this.#primitive = false;
  }

  /** The index after the value's end, or the text's length if the value continues (`done` says which). */
  scan(text: string, from: number): number {
    let at = from;
    let depth = this.#depth;
    this.lines = 0;
    while (at < text.length) {
      if (this.#inString) {
        at = this.#scanString(text, at);
        if (this.#inString || depth > 0) continue;
        this.done = true;
        return at;
      }
      const code = text.charCodeAt(at);
      if (code === quote) this.#inString = true;
      else if (code === openBrace || code === openBracket) depth += 1;
      else if (code === closeBrace || code === closeBracket) depth -= 1;
      else if (code === newline) this.lines += 1;
      else if (depth === 0 && code !== comma && !isSpace(code)) this.#primitive = true;
      const closed = depth <= 0 && (code === closeBrace || code === closeBracket);
      if (closed || (this.#primitive && (code === comma || isSpace(code)))) {
        this.done = true;
        // The character that ends a number or a word is not part of it, and neither is a bracket of its parent.
        const outside = this.#primitive || depth < 0;
        if (outside && code === newline) this.lines -= 1;
        return outside ? at : at + 1;
      }
      at += 1;
    }
    this.#depth = depth;
    return at;
  }

  /** The index after the string's closing quotation mark, or the text's length. */
  #scanString(text: string, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at += 1;
    }
    while (at < text.length) {
      const code = text.charCodeAt(at);
      at += 1;
      if (code === backslash) at += 1;
      else if (code === newline) this.lines += 1;
      else if (code === quote) {
        this.#inString = false;
        return at;
      }
    }
    this.#escaped = at > text.length;
    return text.length;
  }
}

type SeekState = 'value' | 'key' | 'in key' | 'colon' | 'member' | 'skip' | 'first element';

/**
 * Finds the array at a dotted path of member names. Without a path, finds the root array, or the first member of the
 * root object that is an array of objects, or else an empty array.
 */
export class ArraySeeker {
  found = false;
  /** True when the only possible array is empty, and the text after it has been read. */
  isEmpty = false;
  /** True when the found array is the root of the file, so nothing may follow it. */
  isRoot = false;
  /** Why the array cannot be found, once that is clear. */
  problem: string | undefined;
  /** How many newlines the last call of `scan` passed. */
  lines = 0;
  #state: SeekState = 'value';
  #matched = 0;
  #passedEmpty = false;
  #key = '';
  readonly #path: readonly string[];
  readonly #scanner = new ValueScanner();

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  /** The problem to report when the text ends before the array was found. */
  get missing(): string {
    return this.#path.length === 0 ? 'has no array of objects' : `has no array at "${this.#path.join('.')}"`;
  }

  /** The index after the array's `[`, or of its first element; the text's length if it was not found. */
  scan(text: string, from: number): number {
    this.lines = 0;
    let at = from;
    while (at < text.length && !this.found && !this.isEmpty && this.problem === undefined)
      at = this.#step(text, at);
    return at;
  }

  #step(text: string, at: number): number {
    if (this.#state === 'skip') return this.#skip(text, at);
    if (this.#state === 'in key') return this.#readKey(text, at);
    const code = text.charCodeAt(at);
    if (code === newline) this.lines += 1;
    if (isSpace(code)) return at + 1;
    switch (this.#state) {
      case 'value':
        return this.#value(code, at);
      case 'key':
        if (code === quote) this.#enter('in key');
        else if (code === closeBrace) this.#endRoot();
        else if (code !== comma) this.problem = 'is not valid JSON: a member name is expected';
        return at + 1;
      case 'colon':
        if (code !== colon) this.problem = 'is not valid JSON: a colon is expected';
        this.#state = 'member';
        return at + 1;
      case 'member':
        return this.#member(code, at);
      default:
        return this.#firstElement(code, at);
    }
  }

  #endRoot(): void {
    if (this.#passedEmpty) this.isEmpty = true;
    else this.problem = this.missing;
  }

  #enter(state: 'in key' | 'skip', depth = 0): void {
    this.#state = state;
    if (state === 'in key') this.#key = '';
    this.#scanner.start(depth);
  }

  /** Handles the root, or the value at the part of the path that has been matched. */
  #value(code: number, at: number): number {
    if (code === openBracket && this.#matched === this.#path.length) {
      this.found = true;
      this.isRoot = this.#path.length === 0;
    } else if (code === openBrace && (this.#path.length === 0 || this.#matched < this.#path.length)) {
      this.#state = 'key';
    } else this.problem = this.missing;
    return at + 1;
  }

  #readKey(text: string, at: number): number {
    const close = text.indexOf('"', at);
    const end = close < 0 ? text.length : close;
    this.#key += text.slice(at, end);
    if (this.#key.length > 10_000) this.problem = 'is not valid JSON: a member name does not end';
    // A quotation mark after an odd number of backslashes belongs to the name.
    if (close >= 0 && countBackslashesAtEnd(this.#key) % 2 === 1) this.#key += '"';
    else if (close >= 0) this.#state = 'colon';
    return close < 0 ? end : end + 1;
  }

  /** Handles a member's value: the one on the path, one that may be the array, or one to skip. */
  #member(code: number, at: number): number {
    if (this.#path.length > 0 && this.#key === this.#path[this.#matched]) {
      this.#matched += 1;
      this.#state = 'value';
      return at;
    }
    if (this.#path.length === 0 && code === openBracket) {
      this.#state = 'first element';
      return at + 1;
    }
    this.#enter('skip');
    return at;
  }

  #firstElement(code: number, at: number): number {
    this.found = code === openBrace;
    if (code === closeBracket) this.#passedEmpty = true;
    if (!this.found) this.#enter('skip', 1);
    return at;
  }

  #skip(text: string, at: number): number {
    const end = this.#scanner.scan(text, at);
    this.lines += this.#scanner.lines;
    if (this.#scanner.done) this.#state = 'key';
    return end;
  }
}

function countBackslashesAtEnd(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text.length - start;
}
