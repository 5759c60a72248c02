/**
 * Long bodies while they are sent: as fast as the client reads them, and no more of them than memory has room for. A
 * client that requests long pages and does not read them would otherwise fill the memory of the service.
 */
import { HttpError } from '../errors.ts';
import type { Body } from './reply.ts';

/** Bytes of a body that a Response may copy: it copies all of it at once, and keeps the copy until it has been sent. */
const maxCopied = 256 * 1024;
/** Bytes of a longer body that are sent at a time. */
const chunkBytes = 256 * 1024;
/** Bytes of longer bodies to one caller that may be unfinished at the same time, unless it is a single body. */
const maxBytesOfCaller = 64 * 1024 * 1024;
/** The same for all callers together. */
const maxBytes = 256 * 1024 * 1024;
/** Clients that read have finished by then. */
const retryAfter = { 'Retry-After': '2' };

export function createSending() {
  const ofCallers = new Map<string, number>();
  let total = 0;

  function add(subject: string, bytes: number): void {
    const unfinished = (ofCallers.get(subject) ?? 0) + bytes;
    if (unfinished === 0) ofCallers.delete(subject);
    else ofCallers.set(subject, unfinished);
    total += bytes;
  }

  /** @throws HttpError 429, 503 */
  function requireRoom(subject: string, bytes: number): void {
    const unfinished = ofCallers.get(subject) ?? 0;
    if (unfinished > 0 && unfinished + bytes > maxBytesOfCaller) {
      throw new HttpError('RATE_LIMITED', {
        message: `${toMiB(unfinished)} MiB of earlier responses to you are still being sent; read them first.`,
        headers: retryAfter,
      });
    }
    if (total > 0 && total + bytes > maxBytes) {
      throw new HttpError('SERVICE_BUSY', {
        message: `${toMiB(total)} MiB of long responses are being sent to clients; retry when they have been read.`,
        headers: retryAfter,
      });
    }
  }

  return {
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
      if (body.length <= maxCopied) return body;
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
      const { byteLength } = bytes;
      if (mayRefuse) requireRoom(subject, byteLength);
      add(subject, byteLength);
      return toStream(bytes, () => add(subject, -byteLength));
    },
  };
}

const toMiB = (bytes: number): number => Math.round(bytes / 1024 / 1024);

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
