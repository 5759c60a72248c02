/** Bodies of list pages: a page is as long as its items, and may be very long. */
import { takeTurn } from '../../turns/index.ts';

/** Length from which a body is encoded in slices. */
const longBody = 1_000_000;

/** The body of a page: text, or encoded text. */
export type PageBody = string | Uint8Array<ArrayBuffer>;

/**
 * Joins JSON texts with commas. A very long body is encoded piece by piece, with turns of the event loop between the
 * pieces. As one text it would be joined, and encoded for its entity tag and for the response, without a pause.
 * @returns a promise only if the body is very long
 */
export function joinItems(
  before: string,
  items: readonly string[],
  after: string,
): PageBody | Promise<PageBody> {
  let length = 0;
  for (const item of items) length += item.length;
  return length < longBody
    ? `${before}${items.join(',')}${after}`
    : encodeInSlices([
        before,
        ...items.flatMap((item, index) => (index === 0 ? [item] : [',', item])),
        after,
      ]);
}

async function encodeInSlices(texts: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  let length = 0;
  for (const text of texts) {
    // Counting the bytes flattens a rope.
    length += Buffer.byteLength(text);
    await takeTurn();
  }
  // The loop below fills the whole buffer: zeroing it first would hold up the event loop.
  const bytes = Buffer.allocUnsafeSlow(length);
  const encoder = new TextEncoder();
  let end = 0;
  for (const text of texts) {
    end += encoder.encodeInto(text, bytes.subarray(end)).written;
    await takeTurn();
  }
  return bytes;
}
