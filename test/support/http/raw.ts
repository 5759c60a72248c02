/** Sends bytes on a socket, for requests that no HTTP client would send. */
import { connect } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Everything received, including headers. */
  readonly text: string;
}

/**
 * Sends the parts as they are and reads until the service closes the connection or a whole response has arrived.
 * @param end whether to half-close after the last part
 */
export function send(
  url: string,
  parts: readonly (string | Uint8Array)[],
  end = false,
): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  let text = '';
  const socket = connect(Number(port), hostname, () => {
    for (const part of parts) socket.write(part);
    if (end) socket.end();
  });
  const finish = () => {
    socket.destroy();
    resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text });
  };
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
    if (isWhole(text)) finish();
  });
  socket.on('close', finish);
  socket.on('error', error => (text === '' && !('code' in error) ? reject(error) : finish()));
  return promise;
}

/** Opens connections that begin a request and never complete it. @returns a function that closes them */
export async function halfOpen(url: string, count: number, beginning: string): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const sockets = await Promise.all(
    Array.from({ length: count }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof connect>>();
      const socket = connect(Number(port), hostname, () => socket.write(beginning, () => resolve(socket)));
      socket.on('error', reject);
      return promise;
    }),
  );
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1];
  return length !== undefined && text.length - end - 4 >= Number(length);
}

/** Sends the whole request before reading anything, as simple clients do. */
export function sendFirst(url: string, head: string, body: Uint8Array): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<RawResponse>();
  let text = '';
  const socket = connect(Number(port), hostname, () => {
    socket.pause();
    socket.write(head);
    socket.write(body, () => socket.resume());
  });
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
    if (text.includes('\r\n\r\n')) socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }));
  return promise;
}

/** Sends the same part repeatedly until the service closes the connection. @param pause in milliseconds */
export function dripping(
  url: string,
  head: string,
  part: string,
  pause: number,
): Promise<{ readonly text: string; readonly sent: number; readonly seconds: number }> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<{ text: string; sent: number; seconds: number }>();
  const started = performance.now();
  let text = '';
  let sent = 0;
  const socket = connect(Number(port), hostname, () => socket.write(head, next));
  const next = () => {
    if (socket.destroyed) return;
    sent += part.length;
    socket.write(part, error => {
      if (!error) setTimeout(next, pause);
    });
  };
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve({ text, sent, seconds: (performance.now() - started) / 1000 }));
  return promise;
}

/** Sends a request and reads only the head of its response. @returns its status, and a function that disconnects */
export function readHead(
  url: string,
  request: string,
): Promise<{ readonly status: number; readonly disconnect: () => void }> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof readHead>>>();
  const socket = connect(Number(port), hostname, () => socket.write(request));
  let head = '';
  socket.on('error', reject);
  socket.on('data', chunk => {
    head += chunk.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    socket.pause();
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    resolve({ status, disconnect: () => void socket.destroy() });
  });
  return promise;
}
