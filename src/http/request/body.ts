/**
 * Reads bodies up to a limit, and drops the rest that a client sends after its body was refused. Closing the connection
 * at once would reset it, and many clients then report the reset (EPIPE) instead of the response (RFC 9112 §9.6). So
 * the response is sent at once, and the rest is read and dropped for a while before the connection is closed.
 */
import { waitAtMost } from '../../turns/wait.ts';
import { createFieldError, HttpError } from '../errors.ts';
import { createTransfers } from '../quota/transfers.ts';

/** The part of a body that has not been read. */
export type Unread = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;

/** Bodies of at most this many bytes are not counted. */
const maxUncounted = 256 * 1024;
/** Bytes of the first buffer of a body that is read in chunks. */
const firstBytes = 16 * 1024;
/** Maximum number of bytes to drop. */
const maxBytes = 64 * 1024 * 1024;
/** Maximum duration of dropping, in milliseconds. */
const maxMs = 10_000;
/** Milliseconds without a byte after which the client is assumed to be waiting. */
const maxSilenceMs = 1000;

/** What is read: `unread` is set to the rest of a body that is refused. */
interface Reading {
  readonly request: Request;
  /** The caller. */
  readonly subject: string;
  unread: Unread | undefined;
}

export function createBodyReader() {
  const transfers = createTransfers({
    maxOfCaller: 128 * 1024 * 1024,
    max: 512 * 1024 * 1024,
    messages: {
      caller: 'of earlier requests of yours are still being received; complete them first.',
      all: 'of long requests are being received from clients; retry when they have been completed.',
    },
    headers: { Connection: 'close' },
  });

  /**
   * Reads the whole body, as bytes.
   * @throws HttpError 413 as soon as the body is known to be larger than `limit` bytes; 417 if it does not come because
   *   of an expectation that Bun does not recognise; 429, 503 when too many long bodies are unfinished
   */
  return async function readBody(reading: Reading, limit: number): Promise<Uint8Array> {
    const { request, subject } = reading;
    // Bun joins headers of the same name; of two equal lengths one counts (RFC 9110 §8.6).
    const declared = request.headers.get('content-length')?.split(', ', 1)[0] ?? null;
    let counted = 0;
    const count: Count = bytes => {
      if (bytes <= maxUncounted) return;
      transfers.requireRoom(subject, bytes - counted);
      transfers.add(subject, bytes - counted);
      counted = bytes;
    };
    let reader: Unread | undefined;
    try {
      if (Number(declared) > limit) throw createTooLargeError(limit);
      const isWaiting = isExpectationMissed(request.headers.get('expect'));
      if (declared !== null && Number(declared) <= maxUncounted && !isWaiting) return await request.bytes();
      if (request.body === null) return new Uint8Array();
      reader = request.body.getReader();
      return await readChunks(isWaiting ? guardFirstRead(reader) : reader, limit, count);
    } catch (error) {
      if (error instanceof HttpError) reading.unread = reader ?? request.body?.getReader();
      throw error;
    } finally {
      if (counted > 0) transfers.add(subject, -counted);
    }
  };
}

const recognised = '100-continue';
/** Clients that do not wait for ever send the body after 1 s (libcurl) to 5 s (HttpURLConnection of Java). */
const maxExpectationMs = 6000;

/**
 * Bun sends 100 (Continue) only if the expectation is in lower case, although case does not matter (RFC 9110 §10.1.1).
 * Guzzle and the clients of Java write it with a capital letter.
 */
const isExpectationMissed = (expectation: string | null): boolean =>
  expectation !== null && expectation !== recognised && expectation.toLowerCase() === recognised;

/** @returns the same body; its first read fails with 417 if nothing comes, since the client may wait until it is closed */
function guardFirstRead(body: Unread): Unread {
  let isBegun = false;
  return {
    async read() {
      if (isBegun) return body.read();
      isBegun = true;
      const first = await waitAtMost(body.read(), maxExpectationMs);
      if (first === undefined)
        throw new HttpError('EXPECTATION_FAILED', { headers: { Connection: 'close' } });
      return first;
    },
  };
}

const createTooLargeError = (limit: number) =>
  new HttpError('PAYLOAD_TOO_LARGE', {
    message: `The body is larger than ${limit} bytes.`,
    headers: { Connection: 'close' },
  });

/** Called with the bytes that a body takes, before they become more. @throws HttpError */
type Count = (bytes: number) => void;

/** Copies the chunks into one buffer: those of a single byte would take a hundred times their size. */
async function readChunks(reader: Unread, limit: number, count: Count): Promise<Uint8Array> {
  let held = new Uint8Array(Math.min(limit, firstBytes));
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return held.subarray(0, size);
    const end = size + value.byteLength;
    if (end > limit) throw createTooLargeError(limit);
    if (end > held.byteLength) {
      const length = Math.min(limit, Math.max(end, 2 * held.byteLength));
      count(length);
      held = new Uint8Array(held.buffer.transfer(length));
    }
    held.set(value, size);
    size = end;
  }
}

/** @throws HttpError 400 if the body is a part of a representation: PUT would replace the whole with it (RFC 9110 §14.5) */
export function refusePartialBody({ method, headers }: Request): void {
  if (method !== 'PUT' || !headers.has('content-range')) return;
  throw createFieldError('Content-Range', 'unsupported', 'must be absent: PUT replaces the whole resource');
}

/** @returns the same response; its connection is closed after the rest of the request has been dropped */
export async function dropRest(response: Response, rest: Unread): Promise<Response> {
  const body = await response.bytes();
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(body);
      await drop(rest);
      controller.close();
    },
  });
  return new Response(stream, { status: response.status, headers: response.headers });
}

async function drop(rest: Unread): Promise<void> {
  const deadline = performance.now() + maxMs;
  try {
    for (let bytes = 0; bytes < maxBytes; ) {
      const wait = Math.min(maxSilenceMs, deadline - performance.now());
      const chunk = wait > 0 ? await waitAtMost(rest.read(), wait) : undefined;
      if (chunk === undefined || chunk.done) return;
      bytes += chunk.value.byteLength;
    }
  } catch {
    // The client has disconnected and cannot read the response.
  }
}
