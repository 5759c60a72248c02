/** Deletes accounts: for administrators and API keys, and for their owners, who must send the current password. */
import type { Cause } from '../../events/outbox.ts';
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { replyNoContent } from '../../http/response/reply.ts';
import type { Transaction } from '../../storage/database.ts';
import { accountDeletion } from '../auth/schema.ts';
import { byId } from '../crud/index.ts';
import type { Stores } from '../stores.ts';
import { lockAdministrators, lockForChange } from './change.ts';
import { findRefusal, leavesNoAdministrator } from './rules.ts';
import { proveSelf } from './self.ts';
import type { StoredUser } from './store.ts';

export function createDeletionEndpoints(stores: Stores): Endpoint[] {
  const { users, mailTemplates, reviews, comments } = stores;
  async function remove(session: Transaction, user: StoredUser, cause: Cause) {
    // Before the cascade of the database would delete them: each needs an event, and ratings must be updated.
    await reviews.removeAllOf(session, user.id, cause);
    await comments.removeAll(session, { column: 'user_id', value: user.id }, cause);
    await users.remove(session, user, cause);
    return replyNoContent();
  }

  return [
    createEndpoint({
      method: 'DELETE',
      path: '/users/{id}',
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description:
        'Ends all sessions of the user and deletes their reviews, comments, notifications and todos. Orders and invoices are kept.',
      tag: 'Users',
      access: allow.admin('users:write'),
      params: byId,
      responses: { 204: { description: 'The user was deleted.' } },
      errors: ['LAST_ADMINISTRATOR', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, caller, write, cause } = context;
        return write(async session => {
          const { before, administrators } = await lockForChange(session, users, params.id, context);
          const refused = findRefusal(caller, before, null, administrators);
          if (refused !== undefined) throw refused;
          return remove(session, before, cause());
        });
      },
    }),
    createEndpoint({
      method: 'POST',
      path: '/me/deletion',
      operationId: 'deleteMe',
      summary: 'Delete your account',
      description:
        'Ends all sessions and deletes your reviews, comments, notifications and todos. Orders and invoices are kept, so cancel unpaid orders first. A mail confirms the deletion, which cannot be undone. After a few wrong current passwords, further attempts get 429 and must wait.',
      tag: 'Authentication',
      access: allow.everyone(),
      // A deleted account cannot ask for its response again.
      idempotent: false,
      body: {
        kind: 'json',
        schema: accountDeletion,
        example: { currentPassword: 'correct horse battery' },
      },
      responses: { 204: { description: 'The account was deleted.' } },
      errors: ['WRONG_PASSWORD', 'LAST_ADMINISTRATOR'],
      async handle(context) {
        const { body, caller, write, cause } = context;
        const lockProven = await proveSelf(stores, context, body.currentPassword);
        return write(async session => {
          const administrators = await lockAdministrators(session, users, caller);
          const before = await lockProven(session);
          if (leavesNoAdministrator(before, null, administrators)) throw new HttpError('LAST_ADMINISTRATOR');
          await mailTemplates.accountDeleted(session, before, cause());
          return remove(session, before, cause());
        });
      },
    }),
  ];
}
