/** Sends a request and checks its response against the OpenAPI document that the service publishes. */
import type { Role } from '../../../src/http/access.ts';
import type { TestService } from '../service/service.ts';
import { type Contract, contractAt } from './contract.ts';

export interface Call {
  readonly method?: string;
  /** With the version's prefix: `/v1/products`. */
  readonly path: string;
  /** The role whose access token is sent; without it, none is. */
  readonly as?: Role;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, with its Content-Type, unless it is text, bytes or a form. */
  readonly body?: unknown;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of every shape, and assert what they find
  readonly body: any;
}

/**
 * @param contract by default that of the document at /openapi.json
 * @throws Error when the OpenAPI document does not declare such a response for this operation
 */
export async function call(
  service: Pick<TestService, 'url' | 'tokens'>,
  request: Call,
  contract?: Contract,
): Promise<Received> {
  const { body } = request;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
  const headers = new Headers({ 'Accept-Encoding': 'identity', ...request.headers });
  if (request.as !== undefined) headers.set('Authorization', `Bearer ${service.tokens[request.as]}`);
  if (body !== undefined && !isRaw && !headers.has('Content-Type'))
    headers.set('Content-Type', 'application/json');
  const method = request.method ?? 'GET';
  const response = await fetch(`${service.url}${request.path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const requestId = headers.get('X-Request-ID');
  const observed = {
    method,
    path: new URL(`${service.url}${request.path}`).pathname,
    requestId,
    status: response.status,
    headers: response.headers,
  };
  (contract ?? (await contractAt(service.url))).check({ ...observed, text });
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The headers, without those that differ between any two responses. */
export function lasting(headers: Headers): Record<string, string> {
  const varying = [
    'date',
    'server-timing',
    'ratelimit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'content-length',
  ];
  return Object.fromEntries([...headers].filter(([name]) => !varying.includes(name)));
}
