/** Users over HTTP. */
import { allow, unauthorized } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { ok } from '../../http/reply.ts';
import type { Services } from '../services.ts';
import * as schema from './schema.ts';
import { type UserStore, userOf } from './store.ts';

export function userEndpoints({ database }: Services, store: UserStore): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/me',
      operationId: 'getMe',
      summary: 'Read the user who is signed in',
      tag: 'Users',
      access: allow.everyone(),
      responses: { 200: { description: 'The current user.', schema: schema.user } },
      async handle({ caller }) {
        const row = caller.kind === 'user' ? await store.find(database.read, caller.userId) : undefined;
        // The token is good but its user is gone: it stands for nobody any more.
        if (row === undefined) throw unauthorized('UNAUTHORIZED');
        return ok(userOf(row), { lastModified: row.updated_at });
      },
    }),
  ];
}
