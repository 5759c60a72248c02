/**
 * A typed client of the Catalog service. The types come from its OpenAPI document (`npm run client` writes schema.ts);
 * this file adds what every program needs: signing in, renewing tokens, and waiting when a response says so.
 */
import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './schema.ts';

export type { components, operations, paths } from './schema.ts';

/** A refresh token continues the session of an earlier sign-in, for pages that keep no password. */
export type Credentials = SignIn | { readonly apiKey: string };

type SignIn = { readonly email: string; readonly password: string } | { readonly refreshToken: string };

export interface CatalogOptions {
  /** The address of the service, without `/v1`. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  /** How often a request is repeated after 429, 503 (not a JSON Patch), or 409 with Retry-After; 5 by default. */
  readonly retries?: number;
  /** Called before each wait. */
  readonly onWait?: (seconds: number, status: number) => void;
}

/** Calls the service; the compiler checks paths, parameters, bodies and responses. */
export type Catalog = Client<paths>;

export function createCatalog({ baseUrl: given, credentials, retries = 5, onWait }: CatalogOptions): Catalog {
  const baseUrl = given.replace(/\/$/, '');
  const patient = patientFetch(retries, onWait ?? (() => undefined));
  const authorize = 'apiKey' in credentials ? keyOf(credentials) : session(baseUrl, credentials, patient);
  return createClient<paths>({
    baseUrl,
    querySerializer: queryOf,
    async fetch(request: Request) {
      if (request.method === 'POST') nameOnce(request);
      // A body can be read only once: the copy is for a second attempt, if the token has expired.
      const again = copyOf(request);
      const response = await patient(await authorize(request, undefined));
      if (!refusesToken(response)) return response;
      await response.body?.cancel();
      return patient(await authorize(again, request.headers.get('Authorization') ?? ''));
    },
  });
}

/** The members of an object become parameters, as does each value of a list: `attr.colour=red&attr.colour=blue`. */
function queryOf(query: object): string {
  const parameters = new URLSearchParams();
  const add = (name: string, value: unknown) => {
    for (const one of [value].flat())
      if (one !== undefined && one !== null) parameters.append(name, String(one));
  };
  for (const [name, value] of Object.entries(query)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    for (const [own, part] of isObject ? Object.entries(value) : [[name, value]]) add(own, part);
  }
  return parameters.toString();
}

/**
 * Gives a POST a key, so that it can be repeated: after a 503 nobody may know whether it was performed. `randomUUID`
 * exists only on pages from HTTPS.
 */
function nameOnce({ headers }: Request): void {
  if (headers.has('Idempotency-Key')) return;
  headers.set('Idempotency-Key', crypto.getRandomValues(new Uint32Array(4)).join('-'));
}

/**
 * Whether a new token may help. Other responses with 401 are about a password in the body or an API key: to repeat the
 * request would count as another wrong attempt.
 */
const refusesToken = ({ status, headers }: Response): boolean =>
  status === 401 && headers.get('WWW-Authenticate')?.includes('invalid_token') === true;

// Boundary: Bun's types declare the clone as the Request of another library.
const copyOf = (request: Request) => request.clone() as Request;

type Send = (request: Request) => Promise<Response>;
/** Adds credentials to a request; `refused` is the Authorization header that was rejected before. */
type Authorize = (request: Request, refused: string | undefined) => Promise<Request>;

function keyOf({ apiKey }: { readonly apiKey: string }): Authorize {
  return async request => {
    request.headers.set('X-API-Key', apiKey);
    return request;
  };
}

/** The message of an error of the service, or else the text of the response. */
async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message }: { message?: unknown } = JSON.parse(text);
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Signs in before the first request, and requests a new access token when the old one is refused. */
function session(baseUrl: string, credentials: SignIn, send: Send): Authorize {
  let tokens: Promise<Tokens> | undefined;
  let isRefused = false;

  async function post(path: string, body: object): Promise<Response> {
    const headers = { 'Content-Type': 'application/json' };
    return send(new Request(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
  }
  async function signIn(): Promise<Tokens> {
    const path = 'refreshToken' in credentials ? '/v1/auth/refresh' : '/v1/auth/login';
    const response = await post(path, credentials);
    isRefused = response.status === 401;
    if (!response.ok)
      throw new Error(`signing in was refused: ${response.status} ${await reasonOf(response)}`);
    // Boundary: the OpenAPI document specifies this body for 200, without the refresh token if that was sent.
    const received = (await response.json()) as Tokens;
    return 'refreshToken' in credentials ? { ...received, ...credentials } : received;
  }
  async function refresh({ refreshToken }: Tokens): Promise<Tokens> {
    const response = await post('/v1/auth/refresh', { refreshToken });
    if (!response.ok) return signIn();
    // Boundary: the OpenAPI document specifies this body for 200.
    const { accessToken } = (await response.json()) as { accessToken: string };
    return { accessToken, refreshToken };
  }

  /**
   * Makes tokens current. After a failed attempt the next request tries again, unless the credentials were refused:
   * further attempts with them would only make the service slow down those of their owner.
   */
  function keep(next: Promise<Tokens>): Promise<Tokens> {
    tokens = next;
    next.catch(() => {
      if (tokens === next && !isRefused) tokens = undefined;
    });
    return next;
  }
  return async (request, refused) => {
    const known = tokens ?? keep(signIn());
    let current = await known;
    // If the token of several requests has expired, the first one renews it for all.
    if (`Bearer ${current.accessToken}` === refused) {
      current = await (tokens === known ? keep(refresh(current)) : (tokens ?? keep(signIn())));
    }
    request.headers.set('Authorization', `Bearer ${current.accessToken}`);
    return request;
  };
}

/** Parses Retry-After: seconds or, from proxies, a date (RFC 9110 §10.2.3); undefined if it is neither. */
function secondsOf(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/**
 * Whether a request is to be repeated later. A 409 says when if the first attempt is still running. A JSON Patch that a
 * 503 has left in doubt may add to a list, and would do so twice; all others can be repeated.
 */
const isLater = ({ headers: sent }: Request, { status, headers }: Response): boolean =>
  status === 429 ||
  (status === 503 && sent.get('Content-Type')?.startsWith('application/json-patch') !== true) ||
  (status === 409 && headers.has('Retry-After'));

/** @throws what the signal says when it is aborted */
function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, seconds * 1000);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
}

/** Repeats a request after the time in Retry-After, if the quota is used up or the service is not ready. */
function patientFetch(retries: number, onWait: (seconds: number, status: number) => void): Send {
  return async request => {
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(copyOf(request));
      if (!isLater(request, response) || attempt >= retries) return response;
      await response.body?.cancel();
      const seconds = secondsOf(response.headers.get('Retry-After')) ?? 2 ** attempt;
      onWait(seconds, response.status);
      await wait(seconds, request.signal);
    }
  };
}
