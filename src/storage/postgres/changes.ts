/**
 * Finds the events of a PostgreSQL database that are new since the last check. Events become visible in no particular
 * order, but a snapshot names the transactions that it does not see: those that are running, and those that begin
 * later. The new events at the next check are exactly those of these transactions. Two seeks in the index of events by
 * transaction find them, however long a transaction takes.
 */
import { type RawBuilder, sql } from 'kysely';
import { type ChangeRow, maxEvents, type Paged } from '../changes/index.ts';
import type { Builder } from '../database.ts';
import { type Arguments, prepareQuery } from '../prepared.ts';

/** A snapshot that sees everything. The format is `xmin:xmax:`, followed by the running transactions between them. */
const everything = '18446744073709551615:18446744073709551615:';
/**
 * The snapshot of a statement, with the start time of the server: after a failover that lost commits, or on a restored
 * copy, the same ids may belong to other transactions.
 */
const position = sql`pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text`;

/** @returns the statement that returns a row if the snapshot is still that of a position: then nothing has changed */
export function buildUnchangedSince(build: Builder) {
  const statement = prepareQuery<{ since: string }, unknown>(
    build,
    ({ since }) => sql`select 1 where ${position} = ${since}`,
  );
  return (since: string) => statement({ since });
}

/** New rows store their transaction; existing rows are not new to any reader. */
export const eventsByTransaction: readonly RawBuilder<unknown>[] = [
  sql`alter table events add column xid xid8`,
  sql`alter table events alter column xid set default pg_current_xact_id()`,
  sql`create index events_by_transaction on events (xid, id) where xid is not null`,
];

/** Maximum number of events whose ids one statement reads. Of any others, the marks are missing from the sum. */
const idsAtOnce = 16_384;

type Since = { readonly from: string; readonly running: string };

/** The position and the versions of all collections, as this statement sees them. */
const state = sql`select 'position' as kind, ${position} as name, 0::float8 as number, 0 as event, 0 as id,
    null::text as before, null::text as after
  union all select 'version', collection, sum(version), 0, 0, null, null
    from collection_versions group by collection`;

/**
 * The events since a position: at most `limit` of later transactions, and as many of those that were running. They are
 * sorted, so that the planner uses the index whatever it assumes about the parameters. Transactions at or after xmax
 * are not of this server: their events came with a restored copy.
 */
const buildEventsAfter = (
  columns: RawBuilder<unknown>,
  { from, running }: { readonly [Name in keyof Since]: RawBuilder<string> },
  limit: number,
) => sql`select * from (select ${columns} from events where xid >= cast(cast(${from} as text) as xid8)
      and xid < pg_snapshot_xmax(pg_current_snapshot()) and mark > 0
    order by xid, id limit ${sql.lit(limit)}) as later
  union all select * from (select ${columns} from events
      where xid = any(cast(cast(${running} as text) as xid8[])) and mark > 0
    order by xid, id limit ${sql.lit(limit)}) as running`;

/** @returns the statement that reads the ids of the rows changed since a position, from at most `idsAtOnce` events */
export function buildIdsSince(build: Builder): Paged {
  const statement = prepareQuery<Since & Arguments, ChangeRow>(
    build,
    since => sql`${state}
      union all select 'ids', resource, sum(mark)::float8, count(*)::integer, 0, string_agg(resource_id::text, ','), null
        from (${buildEventsAfter(sql`resource, mark, resource_id`, since, idsAtOnce)}) as changed group by resource`,
  );
  return { query: since => statement(parseSince(since)), atOnce: idsAtOnce };
}

/** @returns the statement that reads the events since a position, that of the last check */
export function buildEventsSince(build: Builder): Paged {
  const columns = sql`'event', resource, mark::float8, id, resource_id, old_document, new_document`;
  const statement = prepareQuery<Since & Arguments, ChangeRow>(
    build,
    since => sql`${state} union all ${buildEventsAfter(columns, since, maxEvents)}`,
  );
  return { query: since => statement(parseSince(since)), atOnce: maxEvents };
}

/** The first transaction that a position does not see, and those before it that were running. */
function parseSince(since = everything): Since & Arguments {
  const [snapshot = ''] = since.split(' ');
  const [, from = '', running = ''] = snapshot.split(':');
  return { from, running: `{${running}}` };
}
