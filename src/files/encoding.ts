/** Detects the encoding of text files from their beginning or their bytes, and converts them to UTF-8. */
import { isAscii } from 'node:buffer';

const detectable = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
/** Only used if named: their bytes could also be Windows-1252. */
const named = [
  ...(['windows-1250', 'windows-1251', 'windows-1253', 'windows-1254', 'windows-1255'] as const),
  ...(['windows-1256', 'windows-1257', 'windows-1258', 'windows-874'] as const),
  ...(['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'] as const),
] as const;

export const encodings = [...detectable, ...named] as const;

export type Encoding = (typeof encodings)[number];

/** Detects UTF-16 in the first bytes: by a byte order mark, or by the zero bytes of ASCII characters. */
export function detectEncoding(firstBytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [a, b, c, d] = firstBytes;
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'utf-16le';
  if (a === 0 && b !== 0 && c === 0 && d !== 0) return 'utf-16be';
  return undefined;
}

/** @throws RangeError for an unknown encoding */
const createDecoder = (encoding: string): TextDecoder =>
  // Boundary: the name comes from a file; the constructor checks it.
  new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0], { fatal: true });

/** Detected from the bytes instead: declarations of UTF-8 are often wrong, and Latin-1 often means a superset. */
const detected: ReadonlySet<string> = new Set(detectable);

/**
 * The encoding that XML declares; undefined if it declares none, or one that is detected from the bytes.
 * @throws Error when the encoding is not known
 */
export function readDeclaredEncoding(firstBytes: Uint8Array, name: string): string | undefined {
  const beginning = new TextDecoder('latin1').decode(firstBytes.subarray(0, 200));
  const [, declared] = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)["']/.exec(beginning) ?? [];
  if (declared === undefined) return undefined;
  try {
    const { encoding } = createDecoder(declared);
    return detected.has(encoding) ? undefined : encoding;
  } catch {
    throw new Error(`${name} is XML in the encoding "${declared}", which is not supported: save it as UTF-8`);
  }
}

/**
 * Converts a text to UTF-8.
 * @param encoding if undefined, the bytes decide: UTF-8, unless those beyond ASCII look like Windows-1252
 * @param onWindows1252 called once when a file is read as Windows-1252 because of its bytes
 * @param name the name of the file, for messages
 * @throws Error when the bytes are not valid in the encoding
 */
export function toUtf8(
  source: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onWindows1252: () => void,
  name: string,
): AsyncIterable<Uint8Array> {
  if (encoding === 'utf-8') return source;
  return encoding === undefined
    ? decodeDetected(source, onWindows1252)
    : transcodeText(source, encoding, name);
}

async function* transcodeText(
  source: AsyncIterable<Uint8Array>,
  encoding: string,
  name: string,
): AsyncGenerator<Uint8Array> {
  const decoder = createDecoder(encoding);
  const decode = (chunk?: Uint8Array): Uint8Array => {
    try {
      return Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }));
    } catch {
      throw new Error(`${name} is not valid ${encoding.toUpperCase()} text`);
    }
  };
  for await (const chunk of source) yield decode(chunk);
  const rest = decode();
  if (rest.length > 0) yield rest;
}

/** Passes ASCII through, which is the same in both encodings; the first bytes beyond ASCII decide. */
async function* decodeDetected(
  source: AsyncIterable<Uint8Array>,
  onWindows1252: () => void,
): AsyncGenerator<Uint8Array> {
  let decided: 'utf-8' | TextDecoder | undefined;
  let held: Uint8Array = new Uint8Array(0);
  const decide = (bytes: Uint8Array): 'utf-8' | TextDecoder => {
    if (!isWindows1252(bytes)) return 'utf-8';
    onWindows1252();
    return new TextDecoder('windows-1252');
  };
  const pass = (bytes: Uint8Array): Uint8Array =>
    decided === undefined || decided === 'utf-8' ? bytes : Buffer.from(decided.decode(bytes));
  for await (const chunk of source) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = new Uint8Array(0);
    if (decided === undefined && !isAscii(bytes)) {
      // A character that is cut off at the end does not decide yet.
      if (isAscii(bytes.subarray(0, Math.max(0, bytes.length - 4)))) {
        held = bytes;
        continue;
      }
      decided = decide(bytes);
    }
    yield pass(bytes);
  }
  if (held.length === 0) return;
  decided = decide(held);
  yield pass(held);
}

/** Bytes that have no character in Windows-1252. */
const undefinedBytes = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/**
 * Whether bytes beyond ASCII are Windows-1252, and not damaged UTF-8: bytes that are invalid in UTF-8 outnumber its
 * multibyte characters, which Windows-1252 hardly ever forms by chance.
 */
function isWindows1252(bytes: Uint8Array): boolean {
  let [characters, others] = [0, 0];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) {
      at += 1;
      continue;
    }
    const length = countSequenceBytes(bytes, at);
    if (length === 'unfinished') break;
    if (length > 0) {
      characters += 1;
      at += length;
    } else {
      if (undefinedBytes.has(byte)) return false;
      others += 1;
      at += 1;
    }
  }
  return others > characters;
}

/** The length in bytes of the UTF-8 character at a position; 0 if there is none. */
function countSequenceBytes(bytes: Uint8Array, at: number): number | 'unfinished' {
  const first = bytes[at] ?? 0;
  const length = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || first > 0xf4) return 0;
  for (let next = 1; next < length; next += 1) {
    if (at + next >= bytes.length) return 'unfinished';
    if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}
