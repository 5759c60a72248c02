/** Comments on all posts in the order in which they were written, which those of one post have an index for already. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const commentsByCreatedAt: Migration = {
  name: '0035-expand-comments-by-created-at',
  async up(session, { build }) {
    await session.run(sql`create index comments_by_created_at on comments (created_at, id)`.compile(build));
  },
};
