/** The queries of comments. They are deleted with their post and with their author's account. */
import type { Outbox } from '../../events/outbox.ts';
import type { Database } from '../../storage/database.ts';
import { toDates } from '../../storage/moments.ts';
import type { Row } from '../../storage/tables.ts';
import { type AuthoredStore, createAuthoredStore } from '../authored/store.ts';

export type StoredComment = Row<'comments'>;
export type CommentStore = AuthoredStore<StoredComment>;

export function toComment(row: StoredComment) {
  return {
    id: row.id,
    postId: row.post_id,
    body: row.body,
    author: { id: row.user_id, name: row.author_name },
    ...toDates(row),
  };
}

export const createCommentStore = (database: Database, outbox: Outbox): CommentStore =>
  createAuthoredStore<StoredComment>(database, outbox, {
    table: 'comments',
    resource: 'comment',
    columns: ['post_id', 'body'],
    representationOf: toComment,
  });
