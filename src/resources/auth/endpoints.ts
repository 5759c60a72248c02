/** Signing in, staying signed in, and signing out. */
import { allow, unauthorized } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import type { Quota } from '../../http/rate-limit.ts';
import { noContent, secret } from '../../http/reply.ts';
import type { Services } from '../services.ts';
import { emailKey, type UserStore } from '../users/store.ts';
import type { PasswordCheck } from './passwords.ts';
import * as schema from './schema.ts';
import { type SessionStore, tokenHash } from './store.ts';
import { accessLifetime, refreshIdleLifetime, refreshLifetime, type Tokens } from './tokens.ts';

export interface AuthOptions {
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly tokens: Tokens;
  readonly passwords: PasswordCheck;
  /** Failed attempts per account and per address: what stands against guessing. */
  readonly accountAttempts: Quota;
  readonly addressAttempts: Quota;
}

const tag = 'Authentication';

export function authEndpoints({ database, clock }: Services, options: AuthOptions): Endpoint[] {
  const { users, sessions, tokens, passwords } = options;
  const guard = attemptGuard(options, () => clock.now());

  return [
    endpoint({
      method: 'POST',
      path: '/auth/login',
      operationId: 'login',
      summary: 'Sign in with e-mail and password',
      tag,
      access: allow.public,
      idempotent: false,
      body: {
        kind: 'json',
        schema: schema.credentials,
        example: { email: 'ada@shop.example', password: 'correct horse battery' },
      },
      responses: { 200: { description: 'Access and refresh token.', schema: schema.tokenPair } },
      errors: ['INVALID_CREDENTIALS'],
      async handle({ body, address, write }) {
        const attempt = await guard(emailKey(body.email), address);
        const user = await users.findByEmail(database.read, body.email);
        // The same answer, after the same time, for an unknown user and a wrong password.
        const matches = await passwords.verify(body.password, user?.password_hash);
        if (user === undefined || !matches)
          throw new HttpError('INVALID_CREDENTIALS', { headers: challenge });
        attempt.succeeded();
        const sessionId = crypto.randomUUID();
        const refreshToken = await tokens.signRefresh(user.id, sessionId);
        const accessToken = await tokens.signAccess(user);
        return write(async session => {
          const now = clock.now();
          await sessions.insert(session, {
            id: sessionId,
            user_id: user.id,
            token_hash: tokenHash(refreshToken),
            created_at: now,
            last_used_at: now,
            expires_at: now + refreshLifetime * 1000,
          });
          return secret(200, { accessToken, refreshToken, expiresIn: accessLifetime });
        });
      },
    }),
    endpoint({
      method: 'POST',
      path: '/auth/refresh',
      operationId: 'refresh',
      summary: 'Get a new access token',
      tag,
      access: allow.public,
      idempotent: false,
      body: { kind: 'json', schema: schema.refreshRequest },
      responses: { 200: { description: 'A new access token.', schema: schema.accessTokenOnly } },
      errors: ['UNAUTHORIZED', 'TOKEN_EXPIRED'],
      async handle({ body, address, write }) {
        const attempt = await guard(undefined, address);
        const verified = await tokens.verifyRefresh(body.refreshToken);
        if (typeof verified === 'string') throw unauthorized(verified);
        const hash = tokenHash(body.refreshToken);
        const reply = await write(async session => {
          const row = await sessions.findByToken(session, hash);
          const now = clock.now();
          if (row === undefined || row.id !== verified.sessionId) throw unauthorized('UNAUTHORIZED');
          const idleSince = now - refreshIdleLifetime * 1000;
          if (row.expires_at <= now || row.last_used_at <= idleSince) throw unauthorized('TOKEN_EXPIRED');
          const user = await users.find(session, row.user_id);
          if (user === undefined) throw unauthorized('UNAUTHORIZED');
          await sessions.touch(session, row.id, now);
          // Signing waits for nothing outside this process, so it may be done while the transaction is open.
          return secret(200, { accessToken: await tokens.signAccess(user), expiresIn: accessLifetime });
        });
        attempt.succeeded();
        return reply;
      },
    }),
    endpoint({
      method: 'POST',
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'End the session of a refresh token',
      description: 'The refresh token is the credential. A token that is not known any more is no error.',
      tag,
      access: allow.public,
      idempotent: false,
      body: { kind: 'json', schema: schema.refreshRequest },
      responses: { 204: { description: 'The session has ended.' } },
      handle({ body, write }) {
        return write(async session => {
          await sessions.removeByToken(session, tokenHash(body.refreshToken));
          return noContent();
        });
      },
    }),
  ];
}

const challenge = { 'WWW-Authenticate': 'Bearer realm="catalog"' };

/** Counts an attempt against account and address before it is made; a success gives both back. */
export function attemptGuard(
  { accountAttempts, addressAttempts }: Pick<AuthOptions, 'accountAttempts' | 'addressAttempts'>,
  now: () => number,
) {
  return async (account: string | undefined, address: string) => {
    const charged: { quota: Quota; subject: string }[] = [{ quota: addressAttempts, subject: address }];
    if (account !== undefined) charged.push({ quota: accountAttempts, subject: account });
    for (const { quota, subject } of charged) {
      const state = await quota.charge(subject);
      if (state.allowed) continue;
      const seconds = Math.max(1, state.reset - Math.floor(now() / 1000));
      throw new HttpError('RATE_LIMITED', {
        message: `Too many failed attempts; retry in ${seconds} seconds.`,
        headers: { 'Retry-After': String(seconds) },
      });
    }
    return {
      succeeded: () => {
        for (const { quota, subject } of charged) quota.refund(subject);
      },
    };
  };
}
