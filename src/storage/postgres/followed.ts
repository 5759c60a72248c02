/**
 * Tables that are read by cursor as they grow. On PostgreSQL a row's id is given before its transaction commits: a
 * reader that has come past an id may never see a lower one that is committed later. So anyone who inserts takes note
 * first, and readers stop before the ids that those who have not committed yet may have been given.
 *
 * The note is a shared advisory lock, named by the last id given before it was taken: it goes with the transaction,
 * however that ends. A reader reads the last id given, then the locks, and then the rows, in this order:
 * ids given after the first read are larger than that one; ids given before belong to a transaction whose lock is
 * there, or that has ended, so that its rows are there too. Only transactions that write to the table count: neither
 * other long ones nor those of other databases hold anything back. (Locks are those of the primary: a standby, which
 * does not show them, must not be read in this way.)
 */
import { type RawBuilder, sql } from 'kysely';

/** Names these locks among all advisory locks of the database; any constant will do. */
const lockClass = 730_541;

/** @param table one whose ids are given by its identity column */
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

/** The last id up to which no row will be added any more. The rows have to be read in a snapshot taken after this. */
export const buildLastSettled = (table: string): RawBuilder<{ id: number }> =>
  sql<{ id: number }>`select ${sql.raw(`settled_${table}()`)} as id`;
