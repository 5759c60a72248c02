/** The queries of comments. They go with their post and with their author's account. */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { type Author, type AuthoredStore, authoredStore, type Stored } from '../authored/store.ts';
import type { CommentFields } from './schema.ts';

type CommentValues = {
  readonly post_id: number;
  readonly user_id: number;
  readonly author_name: string;
  readonly body: string;
  readonly created_at: number;
  readonly updated_at: number;
};
export type StoredComment = Stored<CommentValues>;

export interface CommentStore
  extends Pick<AuthoredStore<CommentValues>, 'list' | 'find' | 'lock' | 'update' | 'remove'> {
  insert(
    session: Transaction,
    postId: number,
    author: Author,
    fields: CommentFields,
    cause: Cause,
  ): Promise<StoredComment>;
  /** Deletes the comments on a post, or of a user, that is locked and about to be deleted itself. */
  removeAll(session: Transaction, column: 'post_id' | 'user_id', value: number, cause: Cause): Promise<void>;
}

export function commentOf(row: StoredComment) {
  return {
    id: row.id,
    postId: row.post_id,
    body: row.body,
    author: { id: row.user_id, name: row.author_name },
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

export function commentStore(database: Database, outbox: Outbox): CommentStore {
  const rows = authoredStore<CommentValues>(database, outbox, {
    table: 'comments',
    resource: 'comment',
    columns: ['post_id', 'user_id', 'author_name', 'body', 'created_at', 'updated_at'],
    representationOf: commentOf,
  });
  return {
    ...rows,
    async removeAll(session, column, value, cause) {
      while ((await rows.removeSome(session, { column, value }, cause)).length > 0);
    },
    insert(session, postId, author, { body }, cause) {
      const values = { post_id: postId, user_id: author.id, author_name: author.name, body };
      return rows.insert(session, values, cause);
    },
  };
}
