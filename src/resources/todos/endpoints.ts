/** Todos over HTTP. They have the specification's own envelopes, and its `{error}` for 400 and 404. */
import { z } from 'zod';
import { allow, type Caller, unauthorized } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Dependencies } from '../dependencies.ts';
import type { UserStore } from '../users/store.ts';
import * as schema from './schema.ts';
import { type StoredTodo, type TodoStore, todoOf } from './store.ts';

const path = '/todos';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'createdAt'];
/** What all operations have in common. */
const common = { tag: 'Todos', access: allow.everyone(), plainErrors: true } as const;

export function todoEndpoints(
  { database }: Dependencies,
  { todos, users }: { todos: TodoStore; users: UserStore },
): Endpoint[] {
  /** No API key gets here: todos belong to people. */
  const userIdOf = (caller: Caller): number => {
    if (caller.kind !== 'user') throw unauthorized('UNAUTHORIZED');
    return caller.userId;
  };
  const found = (row: StoredTodo | undefined, id: number): StoredTodo => {
    if (row === undefined) throw notFound('todo', id);
    return row;
  };
  const bodyOf = (row: StoredTodo) => JSON.stringify({ data: todoOf(row) });
  const show = (row: StoredTodo) => ok(bodyOf(row), { lastModified: row.updated_at });

  return [
    endpoint({
      ...common,
      method: 'GET',
      path,
      operationId: 'listTodos',
      summary: 'List your todos',
      query: schema.listTodos,
      responses: {
        200: { description: 'All of them, or those that were requested.', schema: schema.todoList },
      },
      async handle({ query, caller }) {
        const done = query.done === undefined ? undefined : query.done === 'true';
        const rows = await todos.list(database.read, userIdOf(caller), done);
        return ok({ data: rows.map(todoOf), total: rows.length });
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path,
      operationId: 'createTodo',
      summary: 'Make a todo',
      body: { kind: 'json', schema: schema.createTodo },
      responses: { 201: { description: 'The todo was made; it is not done.', schema: schema.oneTodo } },
      errors: ['LIMIT_REACHED'],
      handle({ body, caller, url, write, cause }) {
        const userId = userIdOf(caller);
        return write(async session => {
          // The token is good but its user may be gone. Locked, so that two at once are counted one after the other.
          if ((await users.lock(session, userId)) === undefined) throw unauthorized('UNAUTHORIZED');
          if ((await todos.count(session, userId)) >= schema.todosLimit) {
            throw new HttpError('LIMIT_REACHED', {
              message: `You have ${schema.todosLimit} todos; delete some before you make another.`,
            });
          }
          const row = await todos.insert(session, userId, body.title, cause().at);
          const options = { lastModified: row.updated_at };
          return created(`${url.base}${url.path}/${row.id}`, bodyOf(row), options);
        });
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getTodo',
      summary: 'Read a todo',
      params,
      responses: { 200: { description: 'The todo.', schema: schema.oneTodo } },
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, caller }) {
        return show(found(await todos.find(database.read, userIdOf(caller), id), id));
      },
    }),
    endpoint({
      ...common,
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceTodo',
      summary: 'Replace a todo',
      params,
      body: { kind: 'json', schema: schema.replaceTodo, example: { title: 'Order more lamps', done: true } },
      responses: { 200: { description: 'The todo as it is now.', schema: schema.oneTodo } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle({ params: { id }, body, caller, precondition, write, cause }) {
        return write(async session => {
          const before = found(await todos.lock(session, userIdOf(caller), id), id);
          precondition(bodyOf(before), before.updated_at);
          return show(await todos.update(session, before, body, cause().at));
        });
      },
    }),
    endpoint({
      ...common,
      method: 'PATCH',
      path: `${path}/{id}`,
      operationId: 'patchTodo',
      summary: 'Change a todo',
      params,
      body: { kind: 'patch', schema: schema.patchTodo, example: { done: true } },
      responses: { 200: { description: 'The todo as it is now.', schema: schema.oneTodo } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle({ params: { id }, body, caller, precondition, write, cause }) {
        return write(async session => {
          const before = found(await todos.lock(session, userIdOf(caller), id), id);
          precondition(bodyOf(before), before.updated_at);
          const fields = patched(todoOf(before), body, schema.replaceTodo, readOnly);
          return show(await todos.update(session, before, fields, cause().at));
        });
      },
    }),
    endpoint({
      ...common,
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'deleteTodo',
      summary: 'Delete a todo',
      params,
      responses: { 204: { description: 'The todo is gone.' } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle({ params: { id }, caller, precondition, write }) {
        return write(async session => {
          const before = found(await todos.lock(session, userIdOf(caller), id), id);
          precondition(bodyOf(before), before.updated_at);
          await todos.remove(session, before.id);
          return noContent();
        });
      },
    }),
  ];
}
