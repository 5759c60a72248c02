/** Users over HTTP. */
import type { z } from 'zod';
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { checkResult, patchRepresentation } from '../../http/patch/index.ts';
import { createParser } from '../../http/request/parser.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { hashPassword } from '../auth/passwords.ts';
import { byId } from '../crud/index.ts';
import { createListEndpoint } from '../crud/list.ts';
import type { Stores } from '../stores.ts';
import { createUserChange, lockAdministrators, readView } from './change.ts';
import { presenter } from './representation.ts';
import { requireCreation, requireSelf, requireVisible } from './rules.ts';
import * as schema from './schema.ts';
import { toEmailKey } from './store.ts';

const tag = 'Users';
const path = '/users';
const readOnly = ['id', 'version', 'pendingEmail', 'verifiedAt', 'createdAt', 'updatedAt'];
/** The first administrator’s own address: keeping it requires no password. */
const replacement = { name: 'Ada Winter', email: 'admin@catalog.example', role: 'admin', tags: [] };
const buildUserResponse = (description: string) => ({
  description,
  schema: schema.user,
  hal: schema.hal,
});

export function createUserEndpoints(stores: Stores): Endpoint[] {
  const { database, paginator, users, mailTemplates } = stores;
  const change = createUserChange(stores);
  const parseComplete = createParser(schema.replaceUser);

  return [
    createListEndpoint(paginator, {
      path,
      operationId: 'listUsers',
      tag,
      access: allow.admin('users:read'),
      query: schema.listUsers,
      page: schema.page,
      name: 'users',
      list: users.list,
      sortColumns: schema.sortColumns,
      requested: ({ query }) => ({ query, conditions: buildConditions(query) }),
      async textsOf(context) {
        return presenter.textsOf(await readView(database.read, users, context));
      },
    }),
    createEndpoint({
      method: 'POST',
      path,
      operationId: 'createUser',
      summary: 'Create a user',
      description:
        'A user with a password gets a mail to confirm the address; a user without one gets a mail to set one. An API key can only create users with the role `user`.',
      tag,
      access: allow.admin('users:write'),
      body: { kind: 'json', schema: schema.createUser, example: schema.createUserExample },
      responses: { 201: buildUserResponse('The user was created.') },
      errors: ['DUPLICATE'],
      async handle(context) {
        const { body, caller, write, cause } = context;
        const { name, email, role, tags, password } = body;
        // Hashing is slow on purpose, so it precedes the transaction.
        const passwordHash = password == null ? null : await hashPassword(password);
        return write(async session => {
          const fields = { name, email, role: role ?? 'user', tags: tags ?? [] } as const;
          await lockAdministrators(session, users, caller);
          requireCreation(caller, fields.role);
          const now = cause();
          const row = await users.insert(session, { ...fields, passwordHash, verifiedAt: null }, now);
          // The mail requests what is missing: a password, or proof that the address is the user's.
          await (row.password_hash === null ? mailTemplates.invite : mailTemplates.verify)(session, row, now);
          return presenter.created(await readView(session, users, context), row);
        });
      },
    }),
    createEndpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getUser',
      summary: 'Read a user',
      description: 'Administrators can read all users; other users can read only themselves.',
      tag,
      access: allow.everyone('users:read'),
      params: byId,
      responses: { 200: buildUserResponse('The user.') },
      async handle(context) {
        const { params, caller } = context;
        const { id } = params;
        const row = requireVisible(await users.find(database.read, id), id, caller);
        return presenter.shown(await readView(database.read, users, context), row);
      },
    }),
    createEndpoint({
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceUser',
      summary: 'Replace a user',
      description:
        'Omitted tags are removed. Only an administrator may change the role, which ends the sessions of the user. Users who change their own e-mail address must send `currentPassword`; the new address is `pendingEmail` until the token from the mail to it is sent to `/auth/verify`. An administrator or API key changes the address of another user immediately. A change of the address ends the sessions, and the former address gets a mail.',
      tag,
      access: allow.everyone('users:write'),
      params: byId,
      body: { kind: 'json', schema: schema.replaceUser, example: replacement },
      responses: { 200: buildUserResponse('The user was updated.') },
      errors: ['DUPLICATE', 'LAST_ADMINISTRATOR', 'PRECONDITION_FAILED', 'WRONG_PASSWORD'],
      handle: context => change(context.params.id, context, () => context.body),
    }),
    createEndpoint({
      method: 'PATCH',
      path: `${path}/{id}`,
      operationId: 'patchUser',
      summary: 'Change fields of a user',
      description:
        'The rules are those of PUT. A JSON Patch that tests `/version` gets 409 if another change came first.',
      tag,
      access: allow.everyone('users:write'),
      params: byId,
      body: { kind: 'patch', schema: schema.patchUser, example: { name: 'Ada Summer' } },
      responses: { 200: buildUserResponse('The user was updated.') },
      errors: ['DUPLICATE', 'LAST_ADMINISTRATOR', 'PRECONDITION_FAILED', 'WRONG_PASSWORD'],
      handle: context =>
        checkResult(context.body, () =>
          change(context.params.id, context, current =>
            patchRepresentation(current, context.body, parseComplete, readOnly),
          ),
        ),
    }),
    createEndpoint({
      method: 'GET',
      path: '/me',
      operationId: 'getMe',
      summary: 'Read the user who is signed in',
      tag,
      access: allow.everyone(),
      responses: { 200: buildUserResponse('The current user.') },
      async handle(context) {
        const { caller } = context;
        const row = await requireSelf(caller, id => users.find(database.read, id));
        return presenter.shown(await readView(database.read, users, context), row);
      },
    }),
  ];
}

const buildConditions = ({ role, email }: z.output<typeof schema.listUsers>): Condition[] =>
  createEqualConditions({ role, email_key: email === undefined ? undefined : toEmailKey(email) });
