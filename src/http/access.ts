/** The caller of a request, and what the caller may do: authentication and authorisation (RFC 9110 §11, RFC 6750). */
import type { Session } from '../storage/database.ts';
import { type ErrorCode, HttpError } from './errors.ts';
import { runWhenReady } from './when-ready.ts';

export const roles = ['admin', 'editor', 'user'] as const;
export type Role = (typeof roles)[number];
export const staff: readonly Role[] = ['admin', 'editor'];
export const admins: readonly Role[] = ['admin'];

/** `subject` identifies the caller for quotas and idempotency keys. */
export type Caller =
  | UserCaller
  | {
      readonly kind: 'key';
      readonly subject: string;
      readonly keyId: number;
      readonly scopes: ReadonlySet<string>;
      /** Requests per window; undefined for the default limit. */
      readonly rateLimit: number | undefined;
    }
  | Anonymous;

export interface UserCaller {
  readonly kind: 'user';
  readonly subject: string;
  readonly userId: number;
  readonly role: Role;
  /** The number of times that all sessions of the user had ended when the token was issued. */
  readonly generation: number;
}

export interface Anonymous {
  readonly kind: 'anonymous';
  readonly subject: string;
  /** The rejected credentials and the reason; undefined if neither a token nor a key was sent. */
  readonly problem: { readonly sent: 'token' | 'key'; readonly code: ErrorCode } | undefined;
}

/** The access rule of an endpoint. There is no default: an endpoint without a rule does not compile. */
export type Access =
  | { readonly kind: 'public' }
  | {
      readonly kind: 'protected';
      /** Roles whose bearer tokens are accepted. */
      readonly roles: readonly Role[];
      /** The scope that an API key needs; if unset, no API key is accepted. */
      readonly scope?: string;
      /** Whether a read shows the same to every role, so that the caller's current role does not matter. */
      readonly sameForAllRoles?: true;
    };

export const allow = {
  public: { kind: 'public' } satisfies Access,
  /** Any signed-in user, or an API key with the scope. */
  everyone: (scope?: string): Access => createProtectedAccess(roles, scope),
  /** The same, for reads that show every role the same. */
  everyoneSameView: (scope: string): Access => ({ kind: 'protected', roles, scope, sameForAllRoles: true }),
  staff: (scope?: string): Access => createProtectedAccess(staff, scope),
  /** Only API keys: for programs. */
  keys: (scope: string): Access => createProtectedAccess([], scope),
  admin: (scope?: string): Access => createProtectedAccess(admins, scope),
} as const;

function createProtectedAccess(allowed: readonly Role[], scope: string | undefined): Access {
  return { kind: 'protected', roles: allowed, ...(scope === undefined ? {} : { scope }) };
}

/** Checks credentials. `bearer` and `apiKey` give a caller, or the error code of the refusal. */
export interface Authenticator {
  bearer(token: string): Caller | ErrorCode | Promise<Caller | ErrorCode>;
  apiKey(key: string): Promise<Caller | ErrorCode>;
  /**
   * Checks, within a transaction, that the credentials of a caller are still valid: an access token is verified without
   * a lookup, and may be older than a change of the account by up to its lifetime.
   * @throws HttpError 401 when the account or key is gone, the account has another role than the token, or its sessions
   * have ended since
   */
  confirm(session: Session, caller: Caller): Promise<void>;
}

interface Client {
  readonly address: string;
  /** The requested endpoint; undefined if there is none. */
  readonly endpoint: { readonly access: Access } | undefined;
}

/**
 * Identifies the caller. Wrong credentials do not fail here, since public endpoints need none. Authorization of another
 * scheme, as a proxy may require, is ignored.
 * @param client its address identifies callers without credentials
 */
export function identify(
  headers: Headers,
  keyParameter: string | undefined,
  client: Client,
  authenticator: Authenticator,
): Caller | Promise<Caller> {
  const authorization = headers.get('authorization');
  const token = authorization === null ? undefined : parseBearerToken(authorization);
  // An empty header, as a proxy's template without a value leaves it, names no key.
  const readKey = () => headers.get('x-api-key') || keyParameter;
  // Clients send their token with every request. If the endpoint only accepts keys, the token must not hide the key.
  if (token !== undefined && !(isForKeysOnly(client.endpoint?.access) && readKey() !== undefined)) {
    // A cached token is accepted at once, without a turn of the event loop.
    return runWhenReady(authenticator.bearer(token), caller => toCaller(caller, 'token', client));
  }
  const key = readKey();
  if (key === undefined) return createAnonymous(client.address, undefined);
  return runWhenReady(authenticator.apiKey(key), caller => toCaller(caller, 'key', client));
}

const isForKeysOnly = (access: Access | undefined) =>
  access?.kind === 'protected' && access.roles.length === 0;

const toCaller = (caller: Caller | ErrorCode, sent: 'token' | 'key', client: Client): Caller =>
  typeof caller === 'string' ? createAnonymous(client.address, { sent, code: caller }) : caller;

/** The credentials of the scheme Bearer, whose name is case-insensitive (RFC 9110 §11.1); undefined without any. */
export function parseBearerToken(authorization: string): string | undefined {
  if (!authorization.startsWith('Bearer ') && !/^bearer /i.test(authorization)) return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

function createAnonymous(address: string, problem: Anonymous['problem']): Anonymous {
  return { kind: 'anonymous', subject: `ip:${address}`, problem };
}

/** @throws HttpError 401 without valid credentials, 403 when they do not suffice */
export function admit(caller: Caller, access: Access): void {
  if (access.kind === 'public') return;
  if (caller.kind === 'user') {
    if (access.roles.includes(caller.role)) return;
    const reason =
      access.roles.length === 0
        ? 'This operation accepts API keys only.'
        : `The role ${caller.role} may not do this.`;
    throw new HttpError('FORBIDDEN', { message: reason });
  }
  if (caller.kind === 'key') {
    if (access.scope !== undefined && caller.scopes.has(access.scope)) return;
    const reason =
      access.scope === undefined ? 'does not accept API keys' : `needs the scope ${access.scope}`;
    throw new HttpError('FORBIDDEN', { message: `This operation ${reason}.` });
  }
  const { problem } = caller;
  if (access.roles.length === 0) throw createKeyRequiredError(problem);
  if (problem?.sent === 'key') throw createUnauthorizedError(undefined, invalidKey);
  throw createUnauthorizedError(problem?.code);
}

/**
 * Checks whether staff are still staff, for reads that may show them more than others; undefined for other reads.
 * Writes are confirmed in their transaction.
 * @throws HttpError 401
 */
export function confirmRead(
  caller: Caller,
  { method, access }: { readonly method: string; readonly access: Access },
  authenticator: Authenticator,
  session: Session,
): Promise<void> | undefined {
  if (method !== 'GET' || access.kind === 'public' || access.sameForAllRoles === true) return undefined;
  if (caller.kind !== 'user' || !staff.includes(caller.role)) return undefined;
  return authenticator.confirm(session, caller);
}

/** A 401 for a token whose account has changed its role since the token was issued (RFC 6750 §3.1). */
export const createOutdatedTokenError = () =>
  createUnauthorizedError(
    'UNAUTHORIZED',
    'The role of this account has changed since the token was issued, which ended its sessions: sign in again.',
  );

/** A 401 for a token of a session, when all sessions of the account have ended since it was issued. */
export const createEndedSessionsError = () =>
  createUnauthorizedError(
    'UNAUTHORIZED',
    'The sessions of this account have ended since the token was issued: sign in again.',
  );

const invalidKey = 'The API key is wrong, was revoked, or has expired.';

/** A 401 where no token is accepted. Its scheme is the service's own: none is registered for keys in a header. */
function createKeyRequiredError(problem: Anonymous['problem']): HttpError {
  const challenge = 'ApiKey realm="catalog", header="X-API-Key"';
  return new HttpError(problem?.code ?? 'UNAUTHORIZED', {
    message:
      problem?.sent === 'key'
        ? invalidKey
        : 'This operation requires an API key. Send "X-API-Key: <key>", with a key that has the scope.',
    headers: {
      'WWW-Authenticate': problem?.sent === 'key' ? `${challenge}, error="invalid_key"` : challenge,
    },
  });
}

/** The id of the user who sends a request, for what belongs to users. @throws HttpError 401 for an API key */
export function requireUserId(caller: Caller): number {
  if (caller.kind !== 'user') throw createUnauthorizedError('UNAUTHORIZED');
  return caller.userId;
}

/**
 * A 401 with its challenge, and with `error="invalid_token"` only if a token was sent (RFC 6750 §3.1).
 * @param problem why the token was rejected; undefined if none was sent
 */
export function createUnauthorizedError(problem: ErrorCode | undefined, message?: string): HttpError {
  const challenge = 'Bearer realm="catalog"';
  const description = problem === 'TOKEN_EXPIRED' ? 'The token has expired' : 'The token is not valid';
  return new HttpError(problem ?? 'UNAUTHORIZED', {
    ...(message === undefined ? {} : { message }),
    headers: {
      'WWW-Authenticate':
        problem === undefined
          ? challenge
          : `${challenge}, error="invalid_token", error_description="${description}"`,
    },
  });
}
