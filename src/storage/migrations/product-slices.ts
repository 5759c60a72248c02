/** Slices of the table of products: a statement that rewrote all products at once would hold too much. */
import { sql } from 'kysely';
import type { Builder, Session } from '../database.ts';

/** Ids in a slice: it has the products with ids up to its last one, and above that minus `rowsAtOnce`. */
export const rowsAtOnce = 5000;

/** The last ids of the slices, in ascending order. */
export async function* readSlices(session: Session, build: Builder): AsyncGenerator<number> {
  const query = sql<{ id: number | null }>`select max(id) as id from products`;
  const largest = (await session.first(query.compile(build)))?.id ?? 0;
  for (let last = rowsAtOnce; last - rowsAtOnce < largest; last += rowsAtOnce) yield last;
}
