/**
 * Statements that several transactions of a group share: rows that they look up, insert or update at about the same
 * time go into one statement.
 */
import { sendInSlices } from '../../turns/slices.ts';
import { createReaderByKey, settleAll, type Waiting } from '../batched-lookups.ts';
import type { BulkInsert } from '../bulk.ts';
import type { Lookup } from '../database.ts';
import { arrangeDeferredRows, type Deferred } from '../transactions.ts';
import { type CopySession, takeIds, writeRows } from './bulk/copy.ts';
import { addReturningId } from './transaction.ts';

type Rows = readonly (readonly unknown[])[];
type Key = string | number;

export function createStatementGatherer(inner: CopySession) {
  let sent = 0;
  const readers = new Map<Lookup<Key, unknown>, (key: Key) => Promise<unknown>>();
  const inserts = new Map<BulkInsert, Waiting<Rows, number[]>[]>();
  const writes = new Map<'all', Waiting<Deferred, undefined>[]>();

  async function trackSent<T>(statement: Promise<T>): Promise<T> {
    sent += 1;
    try {
      return await statement;
    } finally {
      sent -= 1;
      flushSoon();
    }
  }

  const flushSoon = () => {
    if (sent === 0 && inserts.size + writes.size > 0) setImmediate(flush);
  };

  /** Sends writes only when no statement is pending, so that transactions that still read can add theirs. */
  function flush(): void {
    // The statements that are pending may lead to more writes.
    if (sent > 0) return;
    for (const [into, all] of takeAll(inserts))
      void trackSent(settleAll(all, wanted => insertAll(into, wanted)));
    for (const [, all] of takeAll(writes)) void trackSent(settleAll(all, writeAll));
  }

  /** Takes the ids first: RETURNING would not show which of the rows were skipped because of a conflict. */
  async function insertAll(into: BulkInsert, wanted: readonly Rows[]) {
    const rows = wanted.flat();
    const ids = await takeIds(inner, into.table, rows.length);
    const statements = into.identified.statements(rows.map((row, index) => [ids[index], ...row]));
    const sent = await sendInSlices(statements, query =>
      inner.all(addReturningId(query, ' on conflict do nothing')),
    );
    const added = await Promise.all(sent);
    const found = new Set(added.flat().map(({ id }) => id));
    const given = new Map<Rows, number[]>();
    let start = 0;
    for (const part of wanted) {
      given.set(
        part,
        ids.slice(start, start + part.length).filter(id => found.has(id)),
      );
      start += part.length;
    }
    return (part: Rows) => given.get(part) ?? [];
  }

  async function writeAll(deferred: readonly Deferred[]) {
    await writeRows(inner, await arrangeDeferredRows(deferred));
    return () => undefined;
  }

  return {
    whileSent: trackSent,
    /** Reads a row together with those that are requested in the same turn of the event loop. */
    pick<K extends Key, Row>(lookup: Lookup<K, Row>, key: K): Promise<Row | undefined> {
      // Boundary: a lookup only gets keys of its own type, and returns rows of its own type.
      const untyped = lookup as unknown as Lookup<Key, unknown>;
      const read = readers.getOrInsertComputed(untyped, () => createReaderByKey(inner, untyped));
      return read(key) as Promise<Row | undefined>;
    },
    /** Inserts rows, and returns the ids of those that conflict with no other row. */
    insert(into: BulkInsert, rows: Rows): Promise<number[]> {
      const ids = waitFor(inserts, into, rows);
      flushSoon();
      return ids;
    },
    write(deferred: Deferred): Promise<undefined> {
      const written = waitFor(writes, 'all', deferred);
      flushSoon();
      return written;
    },
  };
}

function waitFor<Key, Wanted, Given>(
  lists: Map<Key, Waiting<Wanted, Given>[]>,
  key: Key,
  wanted: Wanted,
): Promise<Given> {
  const { promise, resolve, reject } = Promise.withResolvers<Given>();
  lists.getOrInsertComputed(key, () => []).push({ wanted, resolve, reject });
  return promise;
}

function takeAll<Key, Value>(lists: Map<Key, Value>): [Key, Value][] {
  const all = [...lists];
  lists.clear();
  return all;
}
