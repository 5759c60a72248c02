/** The queries of posts. */
import { sql } from 'kysely';
import type { Outbox } from '../../events/outbox.ts';
import type { Database, Session } from '../../storage/database.ts';
import { toDates } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import type { Row } from '../../storage/tables.ts';
import { createAuthoredStore } from '../authored/store.ts';

export type StoredPost = Row<'posts'>;

export function toPost(row: StoredPost) {
  return {
    id: row.id,
    title: row.title,
    body: row.body,
    author: { id: row.author_id, name: row.author_name },
    ...toDates(row),
  };
}

export function createPostStore(database: Database, outbox: Outbox) {
  const { build, dialect } = database;
  const kept = prepareQuery<{ id: number }, { id: number }>(
    build,
    ({ id }) => sql`select id from posts where id = ${id} ${dialect.forKeyShare}`,
  );
  return {
    ...createAuthoredStore<StoredPost>(database, outbox, {
      table: 'posts',
      resource: 'post',
      columns: ['title', 'body', 'author_id'],
      collection: 'posts',
      searched: { type: 'post', textOf: ({ title, body }) => ({ title, body }) },
      representationOf: toPost,
    }),
    /** Whether there is such a post; it then cannot be deleted until the transaction ends. */
    keep: async (session: Session, id: number) => (await session.first(kept({ id }))) !== undefined,
  };
}
