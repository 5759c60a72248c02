/** Requests as bytes, and a client for looking up the data that a scenario's requests need. */

export interface Target {
  readonly port: number;
  /** The number of products in the database at the start. */
  readonly size: number;
}

/** The host is part of the links in a list, and so of its entity tag: it must be the same for every request. */
const host = 'catalog.example';

/** A request with the headers of a client that has signed in. */
export function get(path: string, token: string, header = ''): Uint8Array {
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\nAuthorization: Bearer ${token}\r\n${header}\r\n`,
  );
}

export function send(method: string, path: string, token: string, body: string): Uint8Array {
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

export async function fetchJson(target: Target, path: string, token: string) {
  const response = await fetch(`http://127.0.0.1:${target.port}${path}`, {
    headers: { Host: host, Authorization: `Bearer ${token}`, 'Accept-Encoding': 'identity' },
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  // Boundary: the service's response; callers check the members that they use.
  const body = (await response.json()) as Body;
  return { body, etag: response.headers.get('etag') ?? '' };
}

interface Body {
  readonly id?: number;
  readonly data?: readonly { readonly price: number }[];
  readonly meta?: Meta;
  readonly words?: readonly string[];
}

interface Meta {
  readonly total?: number;
  readonly nextCursor?: string | null;
}
