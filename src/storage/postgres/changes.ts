/**
 * Which events of a PostgreSQL database are new since the last check. Events become visible in no order. But a snapshot
 * says which transactions it does not see: those that are still running, and those that begin after it. Exactly the
 * events of these are new at the next check. Two seeks in the index of events by transaction find them, however long a
 * transaction goes on.
 */
import { type RawBuilder, sql } from 'kysely';
import { type ChangeRow, mostEvents, type Paged } from '../changes/index.ts';
import type { Builder } from '../database.ts';
import { type Arguments, prepareQuery } from '../prepared.ts';

/** A snapshot that sees everything: `xmin:xmax:`, followed by those between that were running. */
const everything = '18446744073709551615:18446744073709551615:';
/**
 * The snapshot of a statement, and since when the server runs: after a failover that has lost commits, or on a copy that
 * was restored, the same transactions may be others.
 */
const position = sql`pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text`;

/** @returns the statement that gives a row where the snapshot is still that of a position: all it sees is the same */
export function buildUnchangedSince(build: Builder) {
  const statement = prepareQuery<{ since: string }, unknown>(
    build,
    ({ since }) => sql`select 1 where ${position} = ${since}`,
  );
  return (since: string) => statement({ since });
}

/** New rows name their transaction; those that are there already are not new to any reader. */
export const eventsByTransaction: readonly RawBuilder<unknown>[] = [
  sql`alter table events add column xid xid8`,
  sql`alter table events alter column xid set default pg_current_xact_id()`,
  sql`create index events_by_transaction on events (xid, id) where xid is not null`,
];

/** Events whose ids are read by one statement. What is beyond them is missing: its marks are. */
const idsAtOnce = 16_384;

interface Since {
  readonly from: string;
  readonly running: string;
}

/** The position and the versions of all collections, as this statement sees them. */
const state = sql`select 'position' as kind, ${position} as name, 0::float8 as number, 0 as event, 0 as id,
    null::text as before, null::text as after
  union all select 'version', collection, sum(version), 0, 0, null, null
    from collection_versions group by collection`;

/**
 * The events since a position, `limit` at most of later transactions and of those that were running. Sorted, so that only
 * an index will do, whatever the planner takes the parameters for. Transactions that have not begun are none of this server:
 * their events were brought along when a copy was restored.
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

/** @returns the statement that reads only which rows have changed since a position, `idsAtOnce` events at most */
export function buildIdsSince(build: Builder): Paged {
  const statement = prepareQuery<Since & Arguments, ChangeRow>(
    build,
    since => sql`${state}
      union all select 'ids', resource, sum(mark)::float8, count(*)::integer, 0, string_agg(resource_id::text, ','), null
        from (${buildEventsAfter(sql`resource, mark, resource_id`, since, idsAtOnce)}) as changed group by resource`,
  );
  return { query: since => statement(parseSince(since)), atOnce: idsAtOnce };
}

/** @returns the statement that reads what there is since a position: that of the last check */
export function buildEventsSince(build: Builder): Paged {
  const columns = sql`'event', resource, mark::float8, id, resource_id, old_document, new_document`;
  const statement = prepareQuery<Since & Arguments, ChangeRow>(
    build,
    since => sql`${state} union all ${buildEventsAfter(columns, since, mostEvents)}`,
  );
  return { query: since => statement(parseSince(since)), atOnce: mostEvents };
}

/** Since when, and which transactions that began before. */
function parseSince(since = everything): Since & Arguments {
  const [snapshot = ''] = since.split(' ');
  const [, from = '', running = ''] = snapshot.split(':');
  return { from, running: `{${running}}` };
}
