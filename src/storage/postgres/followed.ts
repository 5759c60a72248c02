/**
 * Tables that are read by cursor while they grow. PostgreSQL assigns a row's id before its transaction commits: a
 * reader that has passed an id might miss a lower one that is committed later. Therefore a transaction leaves a note
 * before it inserts, and readers stop before the ids that open transactions may have been given.
 *
 * The note is a shared advisory lock, named by the last id assigned before it was taken: it is released when the
 * transaction ends in any way. A reader reads the last id assigned, then the locks, and then the rows, in this order.
 * Ids assigned after the first read are larger than that id. Ids assigned before it belong to a transaction whose lock
 * is visible, or that has ended, so that its rows are visible too. Only open transactions that write to the table hold
 * readers back: other long transactions and those of other databases do not. (A standby does not show the locks, which
 * are those of the primary, and must not be read in this way.)
 */
import { type RawBuilder, sql } from 'kysely';

/** Distinguishes these locks from other advisory locks of the database; any constant will do. */
const lockClass = 730_541;

/** @param table one with an identity column `id` */
export function buildFollowedTable(table: string): RawBuilder<unknown>[] {
  return [
    sql.raw(`create function begin_${table}() returns trigger language plpgsql as $$
      begin
        -- Once for each transaction: the setting is forgotten when it ends.
        if coalesce(current_setting('catalog.began_${table}', true), '') = '' then
          perform pg_advisory_xact_lock_shared(${lockClass}, case when is_called then last_value::integer else 0 end)
            from ${table}_id_seq;
          perform set_config('catalog.began_${table}', 'yes', true);
        end if;
        return null;
      end $$`),
    sql.raw(`create trigger begin_${table} before insert on ${table}
      for each statement execute function begin_${table}()`),
    sql.raw(`create function settled_${table}() returns integer language plpgsql as $$
      declare
        given integer;
        begun bigint;
      begin
        select case when is_called then last_value else 0 end into given from ${table}_id_seq;
        select min(objid::bigint) into begun from pg_locks
          where locktype = 'advisory' and classid = ${lockClass} and objsubid = 2 and granted
            and database = (select oid from pg_database where datname = current_database());
        return least(given, begun);
      end $$`),
  ];
}

/** The id up to which no more rows will be added. The rows must be read in a snapshot that is taken after this. */
export const buildLastSettled = (table: string): RawBuilder<{ id: number }> =>
  sql<{ id: number }>`select ${sql.raw(`settled_${table}()`)} as id`;
