/** The queries of posts. */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepared } from '../../storage/prepared.ts';
import { type Author, type AuthoredStore, authoredStore, type Stored } from '../authored/store.ts';
import type { PostFields } from './schema.ts';

type PostValues = {
  readonly title: string;
  readonly body: string;
  readonly author_id: number;
  readonly author_name: string;
  readonly user_id: number | null;
  readonly created_at: number;
  readonly updated_at: number;
};
export type StoredPost = Stored<PostValues>;

export interface PostStore
  extends Pick<AuthoredStore<PostValues>, 'list' | 'find' | 'lock' | 'update' | 'remove'> {
  insert(session: Transaction, author: Author, fields: PostFields, cause: Cause): Promise<StoredPost>;
  /** Whether there is such a post, which then cannot be deleted before the transaction ends. */
  keep(session: Session, id: number): Promise<boolean>;
}

export function postOf(row: StoredPost) {
  return {
    id: row.id,
    title: row.title,
    body: row.body,
    author: { id: row.author_id, name: row.author_name },
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

export function postStore(database: Database, outbox: Outbox): PostStore {
  const { build, dialect } = database;
  const rows = authoredStore<PostValues>(database, outbox, {
    table: 'posts',
    resource: 'post',
    columns: ['title', 'body', 'author_id', 'author_name', 'user_id', 'created_at', 'updated_at'],
    collection: 'posts',
    searched: { type: 'post', textOf: ({ title, body }) => ({ title, body }) },
    representationOf: postOf,
  });
  const kept = prepared<{ id: number }, { id: number }>(
    build,
    ({ id }) => sql`select id from posts where id = ${id} ${dialect.forKeyShare}`,
  );
  return {
    ...rows,
    insert(session, author, { title, body }, cause) {
      const by = { author_id: author.id, author_name: author.name, user_id: author.id };
      return rows.insert(session, { title, body, ...by }, cause);
    },
    keep: async (session, id) => (await session.first(kept({ id }))) !== undefined,
  };
}
