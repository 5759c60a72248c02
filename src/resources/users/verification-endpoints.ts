/** Proof that an e-mail address is the user's, with the token of a mail sent to it. */
import { admins, allow, type Caller } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { createFieldError } from '../../http/errors.ts';
import { replyNoContent, replySecret } from '../../http/response/reply.ts';
import type { Session } from '../../storage/database.ts';
import { hashPassword } from '../auth/passwords.ts';
import { may } from '../context.ts';
import { byId } from '../crud/index.ts';
import type { Stores } from '../stores.ts';
import { lockAdministrators } from './change.ts';
import { presenter } from './representation.ts';
import { createInvalidTokenError, findRefusal, requireVisible } from './rules.ts';
import * as schema from './schema.ts';
import { toUser } from './store.ts';

/** The settings of operations without signing in. */
const anonymous = { method: 'POST', tag: 'Authentication', access: allow.public, idempotent: false } as const;
const purpose = 'verification';
const example = { token: schema.mailTokenExample };

const setAgain = 'Set the e-mail address again for a new mail to it.';
const askForHelp = 'An administrator can restore the address.';

/** Administrators and API keys may confirm an address without a token; users must send it. */
const vouches = (caller: Caller) => may(caller, admins, undefined);

export function createVerificationEndpoints(stores: Stores): Endpoint[] {
  const { clock, database, users, mailTokens, addressTokens, addresses, guards } = stores;
  return [
    createEndpoint({
      method: 'POST',
      path: '/users/{id}/verify',
      operationId: 'verifyUser',
      summary: 'Confirm the e-mail address of a user',
      description:
        'The user sends the token from the mail; an administrator needs none. A confirmed address stays confirmed. The token from the mail to `pendingEmail` makes it the address of the user and ends all sessions.',
      tag: 'Users',
      access: allow.everyone('users:write'),
      params: byId,
      body: { kind: 'json', schema: schema.verification, optional: true, example },
      responses: {
        200: { description: 'The address is confirmed.', schema: schema.user, hal: schema.hal },
      },
      errors: ['INVALID_TOKEN', 'DUPLICATE'],
      handle({ params: { id }, body, caller, address, showQuota, url, mediaType, write, cause }) {
        const token = vouches(caller) ? undefined : (body?.token ?? '');
        const confirm = () =>
          write(async session => {
            const administrators = await lockAdministrators(session, users, caller);
            const before = requireVisible(await users.lock(session, id), id, caller);
            const refused = findRefusal(caller, before, before.role, administrators);
            if (refused !== undefined) throw refused;
            const view = { caller, url, mediaType, administrators };
            const moved =
              token === undefined ? undefined : await addresses.confirm(session, before, token, cause());
            if (moved !== undefined) return presenter.shown(view, moved);
            if (before.verified_at !== null) {
              if (before.pending_email !== null && token) throw createInvalidTokenError(setAgain);
              return presenter.shown(view, before);
            }
            if (token !== undefined) {
              if (token === '') throw createFieldError('token', 'required', 'is required');
              const owner = await mailTokens.ownerOf(session, token, purpose, clock.now());
              if (owner !== id) throw createInvalidTokenError();
            }
            await mailTokens.withdraw(session, id, purpose);
            return presenter.shown(view, await users.verify(session, before, cause()));
          });
        // Without a token nothing is guessed, and all who send none would share its limit.
        return token ? guards.token({ showQuota, address }, token, confirm) : confirm();
      },
    }),
    createEndpoint({
      ...anonymous,
      path: '/auth/verify',
      operationId: 'verifyAddress',
      summary: 'Confirm an e-mail address with the token from a mail',
      description:
        'Requires no sign-in. A token works once. The token from the mail to `pendingEmail` makes it the address of the user and ends all sessions.',
      body: { kind: 'json', schema: schema.verifyRequest, example },
      responses: { 200: { description: 'When the address was confirmed.', schema: schema.verified } },
      errors: ['INVALID_TOKEN', 'DUPLICATE'],
      handle({ body: { token }, address, showQuota, write, cause }) {
        return guards.token({ showQuota, address }, token, async () => {
          return write(async session => {
            const context = await addressTokens.find(session, token, 'confirmation', clock.now());
            const owner =
              context?.user_id ?? (await mailTokens.ownerOf(session, token, purpose, clock.now()));
            const before = owner === undefined ? undefined : await users.lock(session, owner);
            if (before === undefined) throw createInvalidTokenError();
            if (context !== undefined) {
              const moved = await addresses.confirm(session, before, token, cause());
              if (moved === undefined) throw createInvalidTokenError();
              return replySecret(200, { verifiedAt: toUser(moved).verifiedAt });
            }
            // Checked again: another request may have used the token while this one waited for the user.
            if (!(await mailTokens.use(session, token))) throw createInvalidTokenError();
            const after = before.verified_at === null ? await users.verify(session, before, cause()) : before;
            return replySecret(200, { verifiedAt: toUser(after).verifiedAt });
          });
        });
      },
    }),
    createEndpoint({
      ...anonymous,
      path: '/auth/restore-address',
      operationId: 'restoreAddress',
      summary: 'Recover an account with the token from the mail to its former address',
      description:
        'For users whose e-mail address was changed by others: restores the address that the mail was sent to, sets a new password and ends all sessions. A token works once, within 7 days.',
      body: {
        kind: 'json',
        schema: schema.addressRestoration,
        example: { ...example, password: 'a longer one with a staple' },
      },
      responses: { 204: { description: 'The address was restored and the password was set.' } },
      errors: ['INVALID_TOKEN', 'DUPLICATE'],
      handle({ body: { token, password }, address, showQuota, write, cause }) {
        return guards.token({ showQuota, address }, token, async () => {
          const find = (session: Session) => addressTokens.find(session, token, 'restoration', clock.now());
          if ((await find(database.read)) === undefined) throw createInvalidTokenError(askForHelp);
          // Hashing is slow on purpose, so it precedes the transaction.
          const passwordHash = await hashPassword(password);
          return write(async session => {
            const given = await find(session);
            const before = given === undefined ? undefined : await users.lock(session, given.user_id);
            const restored =
              before === undefined
                ? undefined
                : await addresses.restore(session, before, token, passwordHash, cause());
            if (restored === undefined) throw createInvalidTokenError(askForHelp);
            return replyNoContent();
          });
        });
      },
    }),
  ];
}
