/** Passwords: changing one's own, and setting a new one with a mailed token. */
import type { Consumer } from '../../events/dispatcher.ts';
import { createCause } from '../../events/outbox.ts';
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { replyNoContent, replySecret } from '../../http/response/reply.ts';
import { queued } from '../../http/schema.ts';
import { createMailLimitError } from '../../mail/limits.ts';
import type { Session, Transaction } from '../../storage/database.ts';
import { byId } from '../crud/index.ts';
import type { Stores } from '../stores.ts';
import { createInvalidTokenError } from '../users/rules.ts';
import { mailTokenExample } from '../users/schema.ts';
import { proveSelf } from '../users/self.ts';
import { type StoredUser, toEmailKey } from '../users/store.ts';
import { hashPassword } from './passwords.ts';
import * as schema from './schema.ts';

const tag = 'Authentication';
/** The settings of operations without signing in. */
const anonymous = { method: 'POST', tag, access: allow.public, idempotent: false } as const;
const purpose = 'password';
const forgotten = 'forgotten-passwords';
/** The same response whether or not there is such a user. */
const replyQueued = () => replySecret(202, { status: 'queued' });
const isQueued = {
  description: 'The request was accepted; this does not reveal whether a mail is sent.',
  schema: queued,
  hal: queued,
};

/**
 * Looks up the user of an address and sends the mail after the response, so that the response takes the same time
 * whether or not the address is known.
 */
export function createForgottenPasswordConsumer({ clock, users, mailTemplates }: Stores): Consumer {
  return {
    queue: forgotten,
    kind: 'internal',
    async deliver(session, email) {
      const known = await users.findByEmail(session, email);
      const user = known === undefined ? undefined : await users.lock(session, known.id);
      // The user's address has changed since: the mail would go to a person who did not request it.
      if (user?.email_key === email)
        await mailTemplates.resetPassword(session, user, createCause('service', clock.now()));
    },
  };
}

export function createPasswordEndpoints(stores: Stores): Endpoint[] {
  const { database, clock, queue, users, sessions, mailTokens, mailTemplates, guards } = stores;
  const { knownAddresses } = stores;
  /** Ends what is no longer valid after a change of the password. */
  async function endSessions(
    session: Transaction,
    user: StoredUser,
    address: string,
    now: number,
  ): Promise<void> {
    await sessions.removeAllOf(session, user.id, now);
    await mailTokens.withdraw(session, user.id, purpose);
    // The old password may be known at the addresses of earlier sign-ins; the owner is at the current one.
    await knownAddresses.forget(session, user.id);
    await knownAddresses.keep(session, user.id, toEmailKey(user.email), address, now);
  }

  return [
    createEndpoint({
      method: 'PUT',
      path: '/me/password',
      operationId: 'changePassword',
      summary: 'Change your password',
      description:
        'Ends all sessions: sign in again with the new password. After a few wrong current passwords, further attempts get 429 and must wait.',
      tag,
      access: allow.everyone(),
      body: {
        kind: 'json',
        schema: schema.passwordChange,
        example: { currentPassword: 'correct horse battery', newPassword: 'a longer one with a staple' },
      },
      responses: { 204: { description: 'The password was changed.' } },
      errors: ['WRONG_PASSWORD'],
      async handle(context) {
        const { body, address, write, cause } = context;
        const lockProven = await proveSelf(stores, context, body.currentPassword);
        const passwordHash = await hashPassword(body.newPassword);
        return write(async session => {
          const before = await lockProven(session);
          await users.setPassword(session, before, passwordHash, cause());
          await endSessions(session, before, address, clock.now());
          return replyNoContent();
        });
      },
    }),
    createEndpoint({
      method: 'POST',
      path: '/users/{id}/password-reset',
      operationId: 'requestPasswordReset',
      summary: 'Send a password reset mail to a user',
      description:
        'The mail is sent only if the caller is the user, an administrator or an API key; others get the same response. The user and administrators get 429 when the user has received too many mails.',
      tag: 'Users',
      access: allow.everyone('users:write'),
      params: byId,
      neverNotFound: true,
      responses: { 202: isQueued },
      handle({ params: { id }, caller, write, cause }) {
        const isAllowed =
          caller.kind === 'key' ||
          (caller.kind === 'user' && (caller.userId === id || caller.role === 'admin'));
        return write(async session => {
          const user = isAllowed ? await users.lock(session, id) : undefined;
          if (user === undefined) return replyQueued();
          const refused = await mailTemplates.resetPassword(session, user, cause());
          // A key may not be allowed to know which users exist; other callers see this user anyway.
          if (refused !== undefined && caller.kind === 'user')
            throw createMailLimitError(refused, clock.now());
          return replyQueued();
        });
      },
    }),
    createEndpoint({
      ...anonymous,
      path: '/auth/forgot-password',
      operationId: 'forgotPassword',
      summary: 'Request a password reset mail',
      description: 'The response does not reveal whether a user has this address.',
      body: { kind: 'json', schema: schema.forgotPassword, example: { email: 'ada@shop.example' } },
      responses: { 202: isQueued },
      async handle({ body, address, showQuota, write }) {
        const email = toEmailKey(body.email);
        return guards.mail({ showQuota, address }, email, () =>
          write(async session => {
            await queue.add(session, { queue: forgotten, key: email, payload: email, at: clock.now() });
            return replyQueued();
          }),
        );
      },
    }),
    createEndpoint({
      ...anonymous,
      path: '/auth/password-reset',
      operationId: 'resetPassword',
      summary: 'Set a password with the token from a mail',
      description: 'Ends all sessions of the user and confirms the address that the mail was sent to.',
      body: {
        kind: 'json',
        schema: schema.passwordReset,
        example: { token: mailTokenExample, password: 'a longer one with a staple' },
      },
      responses: { 204: { description: 'The password was set.' } },
      errors: ['INVALID_TOKEN'],
      handle({ body: { token, password }, address, showQuota, write, cause }) {
        return guards.token({ showQuota, address }, token, async () => {
          const readOwner = (session: Session) => mailTokens.ownerOf(session, token, purpose, clock.now());
          if ((await readOwner(database.read)) === undefined) throw createInvalidTokenError();
          const passwordHash = await hashPassword(password);
          return write(async session => {
            const owner = await readOwner(session);
            const before = owner === undefined ? undefined : await users.lock(session, owner);
            // Read again: another request may have used the token while this one waited for the user.
            if (before === undefined || !(await mailTokens.use(session, token)))
              throw createInvalidTokenError();
            const now = cause();
            const user = before.verified_at === null ? await users.verify(session, before, now) : before;
            await users.setPassword(session, user, passwordHash, now);
            // The token that confirms the address stays valid: opening it later shows the address as confirmed.
            await endSessions(session, user, address, now.at);
            return replyNoContent();
          });
        });
      },
    }),
  ];
}
