/** Detects the kind of a file by its first bytes: unpacks gzip, and refuses files that are not text by their kind. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { getErrorMessage } from '../error-text.ts';

const gzip = [0x1f, 0x8b];
/** The beginning of a file written by catalog backup. */
const sqlite = [...new TextEncoder().encode('SQLite format 3\0')];
const image = 'is an image: export the data as CSV, NDJSON or JSON';
const asCsv = 'save it as CSV (UTF-8) and import that';

/** The beginnings of common files that are not text, with advice. */
const signatures: readonly (readonly [bytes: readonly number[], advice: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], `is a spreadsheet (.xlsx, .ods) or a ZIP archive: ${asCsv}, or unzip it`],
  [[0xd0, 0xcf, 0x11, 0xe0], `is an Excel file (.xls): ${asCsv}`],
  [[0x25, 0x50, 0x44, 0x46], 'is a PDF file: export the data as CSV, NDJSON or JSON'],
  [[0x89, 0x50, 0x4e, 0x47], image],
  [[0xff, 0xd8, 0xff], image],
  [[...new TextEncoder().encode('GIF8')], image],
  [[0x50, 0x41, 0x52, 0x31], 'is a Parquet file: export the data as CSV, NDJSON or JSON'],
  [
    sqlite,
    'is an SQLite database: catalog restore restores a backup, and catalog import reads CSV, NDJSON or JSON',
  ],
  // Unpacked data begins like this if the file was packed twice.
  [gzip, 'is compressed with gzip twice: decompress it once, with gunzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is compressed with zstd: decompress it, or compress it with gzip'],
  [[0x42, 0x5a, 0x68], 'is compressed with bzip2: decompress it, or compress it with gzip'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'is compressed with xz: decompress it, or compress it with gzip'],
];

const beginsWith = (bytes: Uint8Array, beginning: readonly number[]): boolean =>
  beginning.every((byte, index) => bytes[index] === byte);

/** Whether the bytes are the beginning of a gzip file (RFC 1952 section 2.3.1). */
export const isGzip = (firstBytes: Uint8Array): boolean => beginsWith(firstBytes, gzip);

/** Detects a byte order mark, or the zero bytes beside the first character: UTF-16 never has two in a row there. */
function isUtf32([a, b, c, d]: Uint8Array): boolean {
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return true;
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return true;
  return b === 0 && c === 0 && d !== undefined && (a === 0) !== (d === 0);
}

/** Whether the bytes are the beginning of XML that may be a feed; false for HTML. */
export function isXml(firstBytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(firstBytes.subarray(0, 1024)).trimStart();
  return isXmlFeed(firstBytes) || /^(?:<\?xml\s|<!--|<!doctype\s+(?!html\b))/i.test(text);
}

/** Whether the bytes are the beginning of an XML feed: RSS or Atom. */
function isXmlFeed(firstBytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(firstBytes.subarray(0, 16 * 1024)).trimStart();
  return text.startsWith('<') && /<(?:rss|feed|rdf:rdf)[\s>]/i.test(text);
}

/**
 * Why a file with this beginning cannot be read, as a phrase for people; undefined if it may be readable.
 * @param format the format that the user has given, if any; `xml` if XML can be read
 */
export function findUnreadableKind(firstBytes: Uint8Array, format: string | undefined): string | undefined {
  const known = signatures.find(([beginning]) => beginsWith(firstBytes, beginning));
  if (known !== undefined) return known[1];
  if (isUtf32(firstBytes))
    return 'is text in UTF-32, which is not supported: save it as UTF-8 and import that';
  const text = new TextDecoder().decode(firstBytes.subarray(0, 1024)).trimStart();
  if (format === 'xml') return undefined;
  // If the user says that it is CSV, the first column may have any name, even <b>.
  const markup = format === undefined ? text.startsWith('<') : text.startsWith('<?xml');
  if (!markup) return undefined;
  return isXmlFeed(firstBytes)
    ? 'is an XML feed: --preset google and --preset meta read it'
    : 'is XML or HTML: export the data as CSV, NDJSON or JSON';
}

/**
 * Unpacks gzip while it is read, even with several members.
 * @param name the name of the file, for messages
 * @throws Error when the file is damaged or truncated
 */
export async function* unpackGzip(
  source: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let failure: unknown;
  const fed = pipeline(Readable.from(source), gunzip).catch((error: unknown) => {
    failure = error;
  });
  try {
    yield* gunzip;
  } catch (error) {
    failure ??= error;
  } finally {
    gunzip.destroy();
  }
  await fed;
  if (failure === undefined) return;
  throw new Error(`${name} is a gzip file that is damaged or cut off: ${getErrorMessage(failure)}`);
}
