/** The bodies of pages of lists: a page is as long as its items, and may be very long. */
import { takeTurn } from '../../turns/index.ts';

/** Characters from which a body is encoded in slices. */
const longBody = 1_000_000;

/** A page's body: text, or text that is encoded already. */
export type PageBody = string | Uint8Array<ArrayBuffer>;

/**
 * A body of JSON texts with commas between them. A very long one is encoded piece by piece, with turns of the event loop
 * between them: as one text it would be put together, and encoded for its entity tag and for the response, in one go.
 * @returns a promise only when it is very long
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
    // Counting puts a text together that was made of several.
    length += Buffer.byteLength(text);
    await takeTurn();
  }
  // All of it is written below: filling it with zeros before would hold up the event loop.
  const bytes = Buffer.allocUnsafeSlow(length);
  const encoder = new TextEncoder();
  let end = 0;
  for (const text of texts) {
    end += encoder.encodeInto(text, bytes.subarray(end)).written;
    await takeTurn();
  }
  return bytes;
}
