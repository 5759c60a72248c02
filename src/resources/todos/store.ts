/** The queries of todos. Finding or listing them requires the id of their user, who sees only those. */
import { sql } from 'kysely';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { computeChangeMoment, toIsoDate } from '../../storage/moments.ts';
import { createOwnedRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import type { Todo, TodoFields } from './schema.ts';

export type StoredTodo = Row<'todos'>;

export function toTodo(row: StoredTodo): Todo {
  return {
    id: row.id,
    title: row.title,
    done: row.done === 1,
    createdAt: toIsoDate(row.created_at),
  };
}

const columns = ['user_id', 'title', 'done', 'created_at', 'updated_at'] as const;

export function createTodoStore(database: Database) {
  const { build } = database;
  const rows = createOwnedRows<StoredTodo>(database, 'todos', columns);
  return {
    /** In order of creation. */
    list(session: Session, userId: number, done: boolean | undefined): Promise<StoredTodo[]> {
      const all = build.selectFrom('todos').selectAll().where('user_id', '=', userId).orderBy('id');
      return session.all((done === undefined ? all : all.where('done', '=', done ? 1 : 0)).compile());
    },
    async count(session: Session, userId: number): Promise<number> {
      const total = sql<number>`cast(count(*) as integer)`.as('total');
      const query = build.selectFrom('todos').select(total).where('user_id', '=', userId);
      return (await session.first(query.compile()))?.total ?? 0;
    },
    find: rows.find,
    lock: rows.lock,
    async insert(session: Transaction, userId: number, title: string, now: number): Promise<StoredTodo> {
      const values = { user_id: userId, title, done: 0, created_at: now, updated_at: now };
      return { id: await rows.insert(session, values), ...values };
    },
    async update(session: Session, before: StoredTodo, { title, done }: TodoFields, now: number) {
      const change = { title, done: done ? 1 : 0, updated_at: computeChangeMoment(now, before.updated_at) };
      await rows.update(session, before.id, change);
      return { ...before, ...change };
    },
    remove: rows.remove,
  };
}
