/** The queries of comments. They go with their post and with their author's account. */
import type { Outbox } from '../../events/outbox.ts';
import type { Database } from '../../storage/database.ts';
import { datesOf } from '../../storage/moments.ts';
import { type AuthoredStore, authoredStore, type Written } from '../authored/store.ts';

export type StoredComment = Written & {
  readonly post_id: number;
  readonly user_id: number;
  readonly body: string;
};

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
