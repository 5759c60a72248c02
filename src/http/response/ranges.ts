/** Parts of a representation (RFC 9110 §14): one range of bytes, to resume an interrupted download. */
import { HttpError } from '../errors.ts';

/** A range of bytes from `first` to `last`, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The header of responses whose address supports ranges. */
export const acceptRanges = { 'Accept-Ranges': 'bytes' };

/**
 * The range that a GET requests. Several ranges, other units and malformed values are ignored, as is a range of a
 * changed representation (If-Range): the response is then the whole.
 * @param size bytes of the whole; @param etag its strong entity tag
 * @returns undefined for the whole
 * @throws HttpError 416 for a range that begins after the end
 */
export function readRange(headers: Headers, size: number, etag: string): ByteRange | undefined {
  const requested = headers.get('range');
  if (requested === null) return undefined;
  const condition = headers.get('if-range');
  // A date never matches: representations sent in ranges have none.
  if (condition !== null && condition.trim() !== etag) return undefined;
  const [, from = '', to = ''] = /^\s*bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(requested) ?? [];
  if (from === '' && to === '') return undefined;
  const range = from === '' ? toSuffixRange(Number(to), size) : toByteRange(Number(from), to, size);
  if (range === undefined) return undefined;
  if (range.first > range.last) {
    throw new HttpError('RANGE_NOT_SATISFIABLE', {
      message: `The file has ${size} bytes; the requested range begins after its end.`,
      headers: { ...acceptRanges, 'Content-Range': `bytes */${size}` },
    });
  }
  return range;
}

function toSuffixRange(length: number, size: number): ByteRange {
  return { first: length === 0 ? size : Math.max(0, size - length), last: size - 1 };
}

/** Undefined for a range that ends before it begins, which is not valid. */
function toByteRange(first: number, to: string, size: number): ByteRange | undefined {
  const last = to === '' ? size - 1 : Number(to);
  if (to !== '' && last < first) return undefined;
  return { first, last: Math.min(last, size - 1) };
}

export const formatContentRange = ({ first, last }: ByteRange, size: number): string =>
  `bytes ${first}-${last}/${size}`;
