/**
 * Converts a stream of bytes in chunks of any size to text: either blocks of whole lines or pieces of whole
 * characters. Neither ever holds more than one piece and one unfinished line.
 */
import { maxRawOfTooLong, maxRecordLength } from './record.ts';

/** Text decoded from a run of bytes; `damaged` if some bytes were not UTF-8 and became U+FFFD. */
export interface DecodedText {
  readonly text: string;
  readonly damaged: boolean;
}

/** Whole lines with their line ends, or (`tooLong`) the beginning of one line that was skipped. */
export interface LineBlock extends DecodedText {
  readonly tooLong: boolean;
}

/** Large enough that the cost per chunk is negligible, small enough that the records of a block take a few MB. */
const pieceLength = 256 * 1024;
const newline = 10;
const space = 32;
const byteOrderMark = '\uFEFF';

/** A decoder of byte runs that start and end between characters; the first run may start with a BOM. */
function createDecode(): (bytes: Uint8Array) => DecodedText {
  // Both keep U+FEFF: it is a byte order mark only at the start of the file, where `removeMark` removes it.
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
  let first = true;
  const removeMark = (text: string): string => {
    if (!first) return text;
    first = false;
    return text.startsWith(byteOrderMark) ? text.slice(1) : text;
  };
  return bytes => {
    try {
      return { text: removeMark(strict.decode(bytes)), damaged: false };
    } catch {
      return { text: removeMark(lenient.decode(bytes)), damaged: true };
    }
  };
}

/** The same bytes in pieces of at most `pieceLength`, none of them empty. */
async function* splitIntoPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += pieceLength) yield chunk.subarray(at, at + pieceLength);
  }
}

/**
 * Yields blocks of whole lines in file order. A line over `maxRecordLength` bytes is a separate block, marked
 * `tooLong`, with only its beginning. The last line of the file need not end with a newline.
 */
export async function* readWholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<LineBlock> {
  const decode = createDecode();
  let unfinished: Uint8Array[] = [];
  let length = 0;

  const take = (end: Uint8Array, tooLong: boolean): LineBlock => {
    const bytes = unfinished.length === 0 ? end : Buffer.concat([...unfinished, end]);
    unfinished = [];
    length = 0;
    if (!tooLong) return { ...decode(bytes), tooLong };
    const beginning = bytes.subarray(0, maxRawOfTooLong);
    return { ...decode(beginning.subarray(0, findCharacterBoundary(beginning))), tooLong };
  };

  for await (const piece of splitIntoPieces(source)) {
    const last = piece.lastIndexOf(newline);
    if (last >= 0) {
      const firstEnd = piece.indexOf(newline);
      // Only the line that began in an earlier piece can be too long: a piece is shorter than the limit.
      const isTooLong = length + firstEnd > maxRecordLength;
      const start = isTooLong ? firstEnd + 1 : 0;
      if (isTooLong) yield take(piece.subarray(0, firstEnd), true);
      if (start <= last) yield take(piece.subarray(start, last + 1), false);
    }
    const rest = piece.subarray(last + 1);
    // Once a line is known to be too long, only its length counts.
    if (rest.length > 0 && length <= maxRecordLength) unfinished.push(rest);
    length += rest.length;
  }
  if (length > 0) yield take(new Uint8Array(0), length > maxRecordLength);
}

/** Omits the first lines of the blocks, whatever they contain. */
export async function* omitLines(blocks: AsyncIterable<LineBlock>, count: number): AsyncGenerator<LineBlock> {
  let left = count;
  for await (const block of blocks) {
    let start = block.tooLong && left > 0 ? block.text.length : 0;
    if (start > 0) left -= 1;
    for (; left > 0 && start < block.text.length; left -= 1) start = findLineEnd(block.text, start) + 1;
    if (start < block.text.length) yield start === 0 ? block : { ...block, text: block.text.slice(start) };
  }
}

/** The index after the last whole character: at most three bytes of an unfinished one follow. */
function findCharacterBoundary(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue; // continuation byte: its first byte is further back
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The text of the file in pieces that never split a character. */
export async function* readWholeCharacters(source: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedText> {
  const decode = createDecode();
  let unfinished = new Uint8Array(0);
  for await (const piece of splitIntoPieces(source)) {
    const bytes = unfinished.length === 0 ? piece : Buffer.concat([unfinished, piece]);
    const end = findCharacterBoundary(bytes);
    unfinished = bytes.slice(end);
    if (end > 0) yield decode(bytes.subarray(0, end));
  }
  if (unfinished.length > 0) yield decode(unfinished);
}

/** The index where the line that contains `from` ends: that of its newline, or the length of the text. */
export function findLineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at;
}

/** The number of newlines between two indexes. */
export function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** The index of the first character at or after `at` that is not a space. */
export function findAfterSpaces(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === space) end += 1;
  return end;
}
