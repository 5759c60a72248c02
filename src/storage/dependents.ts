/**
 * What goes with a row that is deleted, or forgets it, without events: some rows at a time, where the database would
 * otherwise do all of that within one statement on the event loop.
 */
import { sql } from 'kysely';
import { takeTurn } from '../turns/index.ts';
import { runOnce } from '../turns/slices.ts';
import type { Database, Session } from './database.ts';

/** Rows per statement. */
const atOnce = 250;

/** @returns a function that does this for the row of an id, which is locked and deleted after it */
export function createDependentsRemover(
  { build, dialect, read }: Pick<Database, 'build' | 'dialect' | 'read'>,
  table: string,
): (session: Session, id: number) => Promise<void> {
  // As the schema has them: it stays the same while the service runs.
  const findDependents = runOnce(async () => {
    const dependents = dialect.dependents?.(table);
    return dependents === undefined ? [] : read.all(dependents.compile(build));
  });

  return async (session, id) => {
    for (const { child, column, action } of await findDependents()) {
      const [rows, reference] = [sql.table(child), sql.ref(column)];
      const change =
        action === 'CASCADE' ? sql`delete from ${rows}` : sql`update ${rows} set ${reference} = null`;
      const some = sql`${change} where rowid in (
        select rowid from ${rows} where ${reference} = ${id} limit ${sql.lit(atOnce)})`.compile(build);
      while ((await session.run(some)) === atOnce) await takeTurn();
    }
  };
}
