/** Events can be followed by cursor while transactions overlap: see storage/postgres/followed.ts. */
import type { Migration } from './migration.ts';

export const eventsInOrder: Migration = {
  name: '0012-events-in-order',
  async up(session, { build, dialect }) {
    for (const statement of dialect.followed?.prepare('events') ?? [])
      await session.run(statement.compile(build));
  },
};
