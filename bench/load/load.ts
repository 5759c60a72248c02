/**
 * A closed loop of requests over raw keep-alive TCP connections: each connection sends a request when the
 * response to its previous one is complete. Requests are prepared as bytes, and only the status and length of
 * responses are read, so that the generator is cheaper than any server it loads.
 */
import type { Socket } from 'bun';

export interface Load {
  readonly port: number;
  /** Returns the bytes of the request with this number; called once for each request sent. */
  readonly request: (index: number) => Uint8Array;
  /** Expected statuses: a response with any other ends the run. */
  readonly statuses: readonly number[];
  readonly connections: number;
  readonly milliseconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds from sending a request to the end of its response, in ascending order. */
  readonly latencies: Float64Array;
}

/** How long responses may be late before the run fails. */
const graceMs = 20_000;
const noBytes: Buffer = Buffer.alloc(0);
const headEnd = '\r\n\r\n';

/** The state of the response that a connection waits for. */
interface Waiting {
  head: Buffer;
  /** Bytes of the body still to come; undefined while the head is incomplete. */
  missing: number | undefined;
  /** Whether the connection has no more to send, so that its end is not a failure. */
  done: boolean;
  /** When the last request was sent, by performance.now(). */
  sentAt: number;
}

/** Sends requests until the time is up, then waits for outstanding responses. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  let answered = 0;
  let open = load.connections;
  const latencies: number[] = [];
  const start = performance.now();

  function send(socket: Socket<Waiting>): void {
    const bytes = load.request(sent++);
    socket.data.sentAt = performance.now();
    if (socket.write(bytes) !== bytes.length) reject(new Error('A request did not fit the socket buffer.'));
  }
  function complete(socket: Socket<Waiting>): void {
    answered++;
    const now = performance.now();
    latencies.push(now - socket.data.sentAt);
    if (now - start < load.milliseconds) {
      send(socket);
      return;
    }
    socket.data.done = true;
    socket.end();
    if (--open === 0) resolve();
  }
  const handler = {
    data(socket: Socket<Waiting>, chunk: Buffer) {
      try {
        if (receive(socket.data, chunk, load.statuses)) complete(socket);
      } catch (error) {
        reject(error);
      }
    },
    error: (_: Socket<Waiting>, error: Error) => reject(error),
    close(socket: Socket<Waiting>) {
      if (!socket.data.done) reject(new Error(`The server closed a connection after ${answered} answers.`));
    },
  };
  const connect = async () => {
    const data: Waiting = { head: noBytes, missing: undefined, done: false, sentAt: 0 };
    send(await Bun.connect({ hostname: '127.0.0.1', port: load.port, data, socket: handler }));
  };
  const watchdog = setTimeout(
    () => reject(new Error(`Responses are overdue (${sent} sent, ${answered} answered).`)),
    load.milliseconds + graceMs,
  );
  try {
    await Promise.all(Array.from({ length: load.connections }, connect));
    await promise;
  } finally {
    clearTimeout(watchdog);
  }
  const seconds = (performance.now() - start) / 1000;
  return { requests: answered, seconds, latencies: Float64Array.from(latencies).sort() };
}

/** @returns whether the response is complete; @throws Error when it is not the expected one */
function receive(waiting: Waiting, chunk: Buffer, statuses: readonly number[]): boolean {
  if (waiting.missing !== undefined) {
    waiting.missing -= chunk.length;
  } else {
    const bytes = waiting.head.length === 0 ? chunk : Buffer.concat([waiting.head, chunk]);
    const end = bytes.indexOf(headEnd);
    if (end === -1) {
      waiting.head = Buffer.from(bytes);
      return false;
    }
    const head = bytes.toString('latin1', 0, end);
    const got = Number(head.slice(9, 12));
    if (!statuses.includes(got))
      throw new Error(`Answer ${got}, expected ${statuses.join(' or ')}: ${bytes.toString().slice(0, 600)}`);
    waiting.head = noBytes;
    waiting.missing = end + headEnd.length + bodyLength(head, got) - bytes.length;
  }
  if (waiting.missing < 0) throw new Error('The server sent more than the response.');
  if (waiting.missing > 0) return false;
  waiting.missing = undefined;
  return true;
}

function bodyLength(head: string, status: number): number {
  if (status === 204 || status === 304) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`A response without Content-Length: ${head}`);
  return Number(length);
}
