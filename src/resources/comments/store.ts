/** The queries of comments. They go with their post and with their author's account. */
import type { Outbox } from '../../events/outbox.ts';
import type { Database } from '../../storage/database.ts';
import { datesOf } from '../../storage/moments.ts';
import type { Row } from '../../storage/tables.ts';
import { type AuthoredStore, authoredStore } from '../authored/store.ts';

export type StoredComment = Row<'comments'>;
export type CommentStore = AuthoredStore<StoredComment>;

export function commentOf(row: StoredComment) {
  return {
    id: row.id,
    postId: row.post_id,
    body: row.body,
    author: { id: row.user_id, name: row.author_name },
    ...datesOf(row),
  };
}

export const commentStore = (database: Database, outbox: Outbox): CommentStore =>
  authoredStore<StoredComment>(database, outbox, {
    table: 'comments',
    resource: 'comment',
    columns: ['post_id', 'body'],
    representationOf: commentOf,
  });
