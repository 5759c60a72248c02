/** Access to the queue in a program's database, from outside the program. */
import { expect } from 'bun:test';
import { sql } from 'kysely';
import { type Place, withDatabaseOf } from './program.ts';

/** Makes queued work due earlier, as if time had passed: the program uses the real clock. */
export async function letPass(place: Place, milliseconds: number): Promise<void> {
  await withDatabaseOf(place, async ({ write, build }) => {
    const earlier = sql<number>`due_at - ${milliseconds}`;
    await write(session => session.run(build.updateTable('deliveries').set({ due_at: earlier }).compile()));
  });
}

/** Resolves when all queued work is done; fails as soon as any of it has been given up. */
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
