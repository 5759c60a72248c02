/** Todos over HTTP. They have the specification's own envelopes, and its `{error}` for 400 and 404. */
import { allow, requireUserId } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { HttpError, requireFound } from '../../http/errors.ts';
import { replyOk } from '../../http/response/reply.ts';
import { byId, createCrudEndpoints } from '../crud/index.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Stores } from '../stores.ts';
import { requireSelf } from '../users/rules.ts';
import * as schema from './schema.ts';
import { type StoredTodo, toTodo } from './store.ts';

const path = '/todos';
/** The settings that all operations share. */
const common = { tag: 'Todos', access: allow.everyone(), plainErrors: true } as const;

export function createTodoEndpoints({ database, paginator, todos, users }: Stores): Endpoint[] {
  const presenter = createPresenter<StoredTodo>({
    placeOf: ({ id }) => ['todos', id],
    representationOf: toTodo,
    textOf: row => JSON.stringify({ data: toTodo(row) }),
    changedAt: row => row.updated_at,
  });
  const crud = createCrudEndpoints(database, paginator, {
    ...common,
    name: 'todo',
    path: `${path}/{id}`,
    params: byId,
    read: common.access,
    write: common.access,
    schema: schema.oneTodo,
    representation: schema.todo,
    replace: { schema: schema.replaceTodo, example: { title: 'Order more lamps', done: true } },
    patch: { schema: schema.patchTodo, example: { done: true } },
    presenter,
    rows: {
      find: async (session, { id }, caller) =>
        requireFound('todo', id, await todos.find(session, requireUserId(caller), id)),
      lock: async (session, { id }, caller) =>
        requireFound('todo', id, await todos.lock(session, requireUserId(caller), id)),
      update: (session, before, fields, cause) => todos.update(session, before, fields, cause.at),
      remove: (session, before) => todos.remove(session, before.id),
    },
  });

  return [
    createEndpoint({
      ...common,
      method: 'GET',
      path,
      operationId: 'listTodos',
      summary: 'List your todos',
      query: schema.listTodos,
      responses: {
        200: { description: 'All todos, or those that match the filter.', schema: schema.todoList },
      },
      async handle({ query, caller }) {
        const done = query.done === undefined ? undefined : query.done === 'true';
        const rows = await todos.list(database.read, requireUserId(caller), done);
        return replyOk({ data: rows.map(toTodo), total: rows.length });
      },
    }),
    crud.create({
      summary: 'Create a todo',
      success: 'The todo was created; it is not done.',
      body: { schema: schema.createTodo },
      errors: ['LIMIT_REACHED'],
      async insert(session, { body, caller, cause }) {
        // Locked, so that concurrent requests cannot exceed the limit together.
        const { id: userId } = await requireSelf(caller, id => users.lock(session, id));
        if ((await todos.count(session, userId)) >= schema.todosLimit)
          throw new HttpError('LIMIT_REACHED', {
            message: `You have ${schema.todosLimit} todos; delete some before you create another.`,
          });
        return todos.insert(session, userId, body.title, cause().at);
      },
    }),
    crud.get(),
    crud.put(),
    crud.patch({ summary: 'Change a todo' }),
    crud.remove(),
  ];
}
