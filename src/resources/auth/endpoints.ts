/** Signing in, staying signed in, and signing out. */
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { type ErrorCode, HttpError } from '../../http/errors.ts';
import { replyNoContent, replySecret } from '../../http/response/reply.ts';
import { hashSecret } from '../../secrets/random.ts';
import type { Stores } from '../stores.ts';
import { toEmailKey } from '../users/store.ts';
import { accessLifetime, refreshIdleLifetime, refreshLifetime } from './lifetimes.ts';
import * as schema from './schema.ts';

/** The settings that all operations share. */
const common = { method: 'POST', tag: 'Authentication', access: allow.public, idempotent: false } as const;

export function createAuthEndpoints(stores: Stores): Endpoint[] {
  const { database, clock, users, sessions, tokens, passwords, guards, knownAddresses } = stores;
  return [
    createEndpoint({
      ...common,
      path: '/auth/login',
      operationId: 'login',
      summary: 'Sign in with e-mail and password',
      body: {
        kind: 'json',
        schema: schema.credentials,
        example: { email: 'ada@shop.example', password: 'correct horse battery' },
      },
      responses: { 200: { description: 'An access token and a refresh token.', schema: schema.tokenPair } },
      errors: ['INVALID_CREDENTIALS'],
      async handle({ body, address, showQuota, write }) {
        const account = toEmailKey(body.email);
        const user = await guards.signIn({ showQuota, address }, account, async () => {
          const found = await users.findByEmail(database.read, body.email);
          // An unknown user and a wrong password get the same response after the same time.
          const matches = await passwords.verify(body.password, found?.password_hash);
          if (found === undefined || !matches) throw createSignInError();
          return found;
        });
        const { id, password_hash, email_key } = user;
        const sessionId = crypto.randomUUID();
        const refreshToken = await tokens.signRefresh(id, sessionId);
        return write(async session => {
          // Read again: since the password was compared, it may have changed and its sessions may have ended.
          const current = await users.keep(session, id);
          if (current?.password_hash !== password_hash || current.email_key !== email_key)
            throw createSignInError();
          const accessToken = await tokens.signAccess(current);
          const now = clock.now();
          await sessions.insert(session, {
            id: sessionId,
            user_id: id,
            token_hash: hashSecret(refreshToken),
            created_at: now,
            last_used_at: now,
            expires_at: now + refreshLifetime * 1000,
          });
          await knownAddresses.keep(session, id, account, address, now);
          return replySecret(200, { accessToken, refreshToken, expiresIn: accessLifetime });
        });
      },
    }),
    createEndpoint({
      ...common,
      path: '/auth/refresh',
      operationId: 'refresh',
      summary: 'Get a new access token',
      body: { kind: 'json', schema: schema.refreshRequest },
      responses: { 200: { description: 'A new access token.', schema: schema.accessTokenOnly } },
      errors: ['UNAUTHORIZED', 'TOKEN_EXPIRED'],
      async handle({ body, address, showQuota, write }) {
        const hash = hashSecret(body.refreshToken);
        return guards.token({ showQuota, address }, hash, async () => {
          const verified = await tokens.verifyRefresh(body.refreshToken);
          if (typeof verified === 'string') throw createRefreshError(verified);
          return write(async session => {
            const row = await sessions.findByToken(session, hash);
            const now = clock.now();
            if (row === undefined || row.id !== verified.sessionId) throw createRefreshError('UNAUTHORIZED');
            const idleSince = now - refreshIdleLifetime * 1000;
            if (row.expires_at <= now || row.last_used_at <= idleSince)
              throw createRefreshError('TOKEN_EXPIRED');
            const user = await users.keep(session, row.user_id);
            // The session may have ended since it was read, with a change of the password or role.
            if (user === undefined || !(await sessions.touch(session, row.id, now)))
              throw createRefreshError('UNAUTHORIZED');
            // Signing waits for nothing outside this process, so it may happen inside the transaction.
            return replySecret(200, {
              accessToken: await tokens.signAccess(user),
              expiresIn: accessLifetime,
            });
          });
        });
      },
    }),
    createEndpoint({
      ...common,
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'End the session of a refresh token',
      description: 'The refresh token is the credential. An unknown token is not an error.',
      body: { kind: 'json', schema: schema.refreshRequest },
      responses: { 204: { description: 'The session has ended.' } },
      handle({ body, write }) {
        return write(async session => {
          await sessions.removeByToken(session, hashSecret(body.refreshToken));
          return replyNoContent();
        });
      },
    }),
  ];
}

const createSignInError = () => new HttpError('INVALID_CREDENTIALS', { headers: challenge });

/** The refresh token is in the body: no token of the Authorization header is at fault (RFC 6750 §3.1). */
function createRefreshError(code: ErrorCode): HttpError {
  const problem = code === 'TOKEN_EXPIRED' ? 'has expired' : 'is not valid, or its session has ended';
  const message = `The refresh token ${problem}; sign in again with POST /v1/auth/login.`;
  return new HttpError(code, { message, headers: challenge });
}

const challenge = { 'WWW-Authenticate': 'Bearer realm="catalog"' };
