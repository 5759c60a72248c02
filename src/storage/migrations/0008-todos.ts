/** Todos, each private to the user who made it. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const todos: Migration = {
  name: '0008-todos',
  async up(session, { build, dialect }) {
    const { id, text, integer, moment } = dialect.types;
    const statements = [
      sql`create table todos (
        id ${id},
        user_id ${integer} not null references users (id) on delete cascade,
        title ${text} not null,
        done ${integer} not null check (done in (0, 1)),
        created_at ${moment} not null,
        updated_at ${moment} not null
      )`,
      sql`create index todos_by_user on todos (user_id, id)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
