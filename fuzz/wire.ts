/** Sends requests as bytes on a socket, so that no client corrects them, and reads the responses. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { send } from '../test/support/http/raw.ts';

export interface WireRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | undefined;
}

export interface WireResponse {
  /** 0 when the connection was closed without a response. */
  readonly status: number;
  readonly headers: Headers;
  /** The decoded body, whatever its content coding. */
  readonly text: string;
  readonly milliseconds: number;
}

const patience = 10_000;
/** The longest request head that Bun accepts. */
const maxHeadLength = 16_000;

/** @returns undefined when there was no response within 10 seconds */
export async function exchange(url: string, request: WireRequest): Promise<WireResponse | undefined> {
  const started = performance.now();
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), patience);
  const parts = [
    Buffer.from(headOf(request), 'latin1'),
    ...(request.body === undefined ? [] : [request.body]),
  ];
  const response = await Promise.race([send(url, parts), late.promise]);
  clearTimeout(timer);
  if (response === undefined) return undefined;
  return { ...parsed(response.text), milliseconds: performance.now() - started };
}

function headOf({ method, target, headers, body }: WireRequest): string {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const own = [
    ...(names.has('host') ? [] : ['Host: fuzz.example']),
    ...(body === undefined ? [] : [`Content-Length: ${body.byteLength}`]),
    'Connection: close',
  ];
  const given = headers.map(([name, value]) => `${name.replace(/^!/, '')}: ${latin1(value)}`);
  return [`${method} ${target} HTTP/1.1`, ...own, ...given, '', ''].join('\r\n');
}

/** The text's UTF-8 bytes, each as a Latin-1 character. */
const latin1 = (value: string) => Buffer.from(value).toString('latin1');

/** Whether the request follows RFC 9112: others may be refused below the service, without its headers. */
export function isHttp(request: WireRequest): boolean {
  return (
    /^[\x21-\x7e]+$/.test(request.target) &&
    headOf(request).length < maxHeadLength &&
    request.headers.every(
      ([name, value]) =>
        /^[!#$%&'*+.^`|~\w-]+$/.test(name) &&
        !name.startsWith('!') &&
        /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u.test(value),
    )
  );
}

function parsed(received: string): Omit<WireResponse, 'milliseconds'> {
  // 100 (Continue) may precede the response.
  const whole = received.replace(/^HTTP\/1\.1 100[^\r]*\r\n\r\n/, '');
  const end = whole.indexOf('\r\n\r\n');
  const head = end === -1 ? whole : whole.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  const headers = new Headers();
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const content = end === -1 ? '' : whole.slice(end + 4);
  const isChunked = headers.get('transfer-encoding') === 'chunked';
  const bytes = Buffer.from(isChunked ? joined(content) : content, 'latin1');
  return { status, headers, text: decoded(bytes, headers.get('content-encoding')).toString() };
}

/** The content of a chunked body (RFC 9112 §7.1). */
function joined(chunked: string): string {
  let content = '';
  let at = 0;
  while (at < chunked.length) {
    const line = chunked.indexOf('\r\n', at);
    const size = Number.parseInt(chunked.slice(at, line), 16);
    if (line === -1 || !(size > 0)) break;
    content += chunked.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
  return content;
}

function decoded(bytes: Buffer, coding: string | null): Buffer {
  if (bytes.length === 0) return bytes;
  if (coding === 'gzip') return gunzipSync(bytes);
  if (coding === 'br') return brotliDecompressSync(bytes);
  if (coding === 'deflate') return inflateSync(bytes);
  if (coding === 'zstd') return Buffer.from(Bun.zstdDecompressSync(new Uint8Array(bytes)));
  return bytes;
}

/** A curl command that repeats the request. */
export function curlOf(url: string, { method, target, headers, body }: WireRequest): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const sent = headers.map(([name, value]) => ` -H ${quote(`${name.replace(/^!/, '')}: ${value}`)}`).join('');
  const bytes = body === undefined ? '' : bodyOf(body);
  return `${bytes.startsWith('printf') ? `${bytes} | ` : ''}curl -i --path-as-is -X ${method}${sent}${
    bytes.startsWith('printf') ? ' --data-binary @-' : bytes
  } ${quote(`${url}${target}`)}`;

  function bodyOf(content: Uint8Array): string {
    const text = Buffer.from(content).toString();
    const isText = Buffer.from(text).equals(Buffer.from(content)) && !text.includes('\0');
    if (isText) return ` --data-binary ${quote(text)}`;
    return `printf '${[...content].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`;
  }
}
