/** Bodies as they are sent: a Response copies what it is given at once, which takes long for the longest pages. */
import type { Body } from './reply.ts';

/** Bytes that are copied at once. */
const maxCopied = 16 * 1024 * 1024;
/** Bytes of a longer body that are sent at a time, as fast as the client reads them. */
const chunkBytes = 1024 * 1024;

export function toSendable(body: Body | null): Body | ReadableStream<Uint8Array> | null {
  if (!(body instanceof Uint8Array) || body.byteLength <= maxCopied) return body;
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(body.subarray(sent, sent + chunkBytes));
        sent += chunkBytes;
        if (sent >= body.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
