/** An index of the comments on all posts by creation; the comments on a single post have one already. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const commentsByCreatedAt: Migration = {
  name: '0035-expand-comments-by-created-at',
  async up(session, { build }) {
    await session.run(sql`create index comments_by_created_at on comments (created_at, id)`.compile(build));
  },
};
