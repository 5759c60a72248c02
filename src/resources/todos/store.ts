/** The queries of todos: each names the user whose they are, so that none shows another's. */
import { sql } from 'kysely';
import type { Database, Session } from '../../storage/database.ts';
import { momentOfChange } from '../../storage/moments.ts';
import { prepared } from '../../storage/prepared.ts';
import type { Todo, TodoFields } from './schema.ts';

export interface StoredTodo {
  readonly id: number;
  readonly title: string;
  readonly done: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface TodoStore {
  /** In the order they were made. */
  list(session: Session, userId: number, done: boolean | undefined): Promise<StoredTodo[]>;
  count(session: Session, userId: number): Promise<number>;
  find(session: Session, userId: number, id: number): Promise<StoredTodo | undefined>;
  /** The same, keeping others from changing it until the transaction ends. */
  lock(session: Session, userId: number, id: number): Promise<StoredTodo | undefined>;
  insert(session: Session, userId: number, title: string, now: number): Promise<StoredTodo>;
  update(session: Session, before: StoredTodo, fields: TodoFields, now: number): Promise<StoredTodo>;
  remove(session: Session, id: number): Promise<void>;
}

export function todoOf(row: StoredTodo): Todo {
  return {
    id: row.id,
    title: row.title,
    done: row.done === 1,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

export function todoStore({ build, dialect }: Database): TodoStore {
  const columns = ['id', 'title', 'done', 'created_at', 'updated_at'] as const;
  const own = prepared<{ userId: number; id: number }, StoredTodo>(build, argument =>
    build
      .selectFrom('todos')
      .select(columns)
      .where('user_id', '=', argument.userId)
      .where('id', '=', argument.id),
  );
  const ownForUpdate = prepared<{ userId: number; id: number }, StoredTodo>(build, argument =>
    build
      .selectFrom('todos')
      .select(columns)
      .where('user_id', '=', argument.userId)
      .where('id', '=', argument.id)
      .modifyEnd(dialect.forUpdate),
  );
  return {
    list(session, userId, done) {
      const all = build.selectFrom('todos').select(columns).where('user_id', '=', userId).orderBy('id');
      return session.all((done === undefined ? all : all.where('done', '=', done ? 1 : 0)).compile());
    },
    async count(session, userId) {
      const total = sql<number>`cast(count(*) as integer)`.as('total');
      const query = build.selectFrom('todos').select(total).where('user_id', '=', userId);
      return (await session.first(query.compile()))?.total ?? 0;
    },
    find: (session, userId, id) => session.first(own({ userId, id })),
    lock: (session, userId, id) => session.first(ownForUpdate({ userId, id })),
    async insert(session, userId, title, now) {
      const values = { title, done: 0, created_at: now, updated_at: now };
      const query = build
        .insertInto('todos')
        .values({ user_id: userId, ...values })
        .returning('id');
      const row = await session.first(query.compile());
      if (row === undefined) throw new Error('INSERT … RETURNING gave no row');
      return { id: row.id, ...values };
    },
    async update(session, before, { title, done }, now) {
      const change = { title, done: done ? 1 : 0, updated_at: momentOfChange(now, before.updated_at) };
      await session.run(build.updateTable('todos').set(change).where('id', '=', before.id).compile());
      return { ...before, ...change };
    },
    async remove(session, id) {
      await session.run(build.deleteFrom('todos').where('id', '=', id).compile());
    },
  };
}
