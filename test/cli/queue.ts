/** The queue of a program's database, seen from beside the program. */
import { expect } from 'bun:test';
import { sql } from 'kysely';
import { type Place, withDatabaseOf } from './program.ts';

/** So much time passes for what is queued: the program has the real clock. */
export async function letPass(place: Place, milliseconds: number): Promise<void> {
  await withDatabaseOf(place, async ({ write, build }) => {
    const earlier = sql<number>`due_at - ${milliseconds}`;
    await write(session => session.run(build.updateTable('deliveries').set({ due_at: earlier }).compile()));
  });
}

/** Resolves when everything that was queued has been done; fails as soon as something was given up. */
export async function queueIsEmpty(place: Place): Promise<void> {
  await withDatabaseOf(place, async ({ read, build }) => {
    const query = build.selectFrom('deliveries').select(['queue', 'attempts', 'failed_at']).compile();
    for (;;) {
      const rows = await read.all(query);
      if (rows.length === 0) return;
      expect(rows.filter(row => row.failed_at !== null)).toEqual([]);
      await Bun.sleep(20);
    }
  });
}
