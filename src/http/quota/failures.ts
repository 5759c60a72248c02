/** Counters of failed attempts: in memory for one process, in the database for replicas. */
import { createBoundedMap } from '../../bounded-map.ts';
import type { Database, Session } from '../../storage/database.ts';
import { createSweep } from '../../storage/table-rows.ts';
import type { Counter, Counters } from './delays.ts';
import { subjectLimit } from './window.ts';

export function createMemoryCounters(): Counters {
  const counters = createBoundedMap<string, Counter>(subjectLimit);
  const read = (hashes: readonly string[]) =>
    new Map(
      hashes.flatMap(hash => {
        const counter = counters.get(hash);
        return counter === undefined ? [] : [[hash, counter]];
      }),
    );
  return {
    read,
    async update(hashes, change) {
      const { next, result } = change(read(hashes));
      for (const [index, counter] of (next ?? []).entries()) counters.set(hashes[index] ?? '', counter);
      return result;
    },
    // Counters that are not used for long are evicted by new ones.
    sweep: async () => 0,
  };
}

export function createSharedCounters(database: Database): Counters {
  const { build, dialect, read, write } = database;
  const sweep = createSweep(database, { table: 'failed_attempts', key: ['hash'] }, 'failed_at');
  const buildRows = (hashes: readonly string[]) =>
    // In a fixed order, so that no two transactions wait for each other.
    build.selectFrom('failed_attempts').selectAll().where('hash', 'in', hashes).orderBy('hash');
  const insert = (hashes: readonly string[]) =>
    build
      .insertInto('failed_attempts')
      .values(hashes.toSorted().map(hash => ({ hash, failures: 0, failed_at: 0, failed_before: 0 })))
      .onConflict(conflict => conflict.column('hash').doNothing());

  async function save(
    session: Session,
    hash: string | undefined,
    { failures, failed_at, failed_before }: Counter,
  ): Promise<void> {
    const values = { failures, failed_at, failed_before };
    await session.run(
      build
        .updateTable('failed_attempts')
        .set(values)
        .where('hash', '=', hash ?? '')
        .compile(),
    );
  }
  const mapByHash = (found: readonly (Counter & { hash: string })[]) =>
    new Map(found.map(row => [row.hash, row]));

  return {
    read: async hashes => mapByHash(await read.all(buildRows(hashes).compile())),
    update: (hashes, change) =>
      write(
        async session => {
          await session.run(insert(hashes).compile());
          const locked = buildRows(hashes).modifyEnd(dialect.forUpdate);
          const { next, result } = change(mapByHash(await session.all(locked.compile())));
          for (const [index, counter] of (next ?? []).entries()) await save(session, hashes[index], counter);
          return result;
        },
        { reservedConnection: true },
      ),
    sweep: before => write(session => sweep(session, before)),
  };
}
