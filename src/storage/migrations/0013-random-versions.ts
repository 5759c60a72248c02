/** Versions of collections become random numbers, which are too large for a column of integers. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const randomVersions: Migration = {
  name: '0013-random-versions',
  async up(session, { build, dialect }) {
    // SQLite's integers have 64 bits.
    if (dialect.name === 'sqlite') return;
    const type = dialect.types.real;
    await session.run(sql`alter table collection_versions alter column version type ${type}`.compile(build));
  },
};
