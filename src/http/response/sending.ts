/** Long bodies are sent as fast as the client reads them, and no more of them than memory has room for. */
import { createTransfers } from '../quota/transfers.ts';
import type { Body } from './reply.ts';

/** Bytes of a body that a Response may copy: it copies all of it at once, and keeps the copy until it has been sent. */
const maxCopied = 256 * 1024;
/** Bytes of a longer body that are sent at a time. */
const chunkBytes = 256 * 1024;

export function createSending() {
  const transfers = createTransfers({
    maxOfCaller: 64 * 1024 * 1024,
    max: 256 * 1024 * 1024,
    messages: {
      caller: 'of earlier responses to you are still being sent; read them first.',
      all: 'of long responses are being sent to clients; retry when they have been read.',
    },
  });
  const shared = new WeakMap<Uint8Array, Blob>();
  return {
    /** A body that many responses have, whose bytes a Response would copy each time: it does not copy a Blob. */
    share(body: string | Uint8Array<ArrayBuffer>): Body {
      if (typeof body === 'string' || body.byteLength <= maxCopied) return body;
      return shared.getOrInsertComputed(body, () => new Blob([body]));
    },
    /**
     * Converts a body to what a Response takes.
     * @param mayRefuse whether the request can be repeated: that of a change has been carried out
     * @throws HttpError 429, 503 when too many long bodies are unfinished
     */
    toSendable(
      body: string | Uint8Array<ArrayBuffer>,
      subject: string,
      mayRefuse: boolean,
    ): Body | ReadableStream<Uint8Array> {
      // A UTF-16 unit takes at most three bytes.
      if (body.length <= maxCopied / 3) return body;
      // TextEncoder takes five times as long for a text of é.
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (bytes.byteLength <= maxCopied) return bytes;
      const { byteLength } = bytes;
      if (mayRefuse) transfers.requireRoom(subject, byteLength);
      transfers.add(subject, byteLength);
      return toStream(bytes, () => transfers.add(subject, -byteLength));
    },
  };
}

/** @param ended called once, when all has been passed on or the client has left */
function toStream(bytes: Uint8Array<ArrayBuffer>, ended: () => void): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(sent, sent + chunkBytes));
        sent += chunkBytes;
        if (sent < bytes.byteLength) return;
        controller.close();
        ended();
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  );
}
