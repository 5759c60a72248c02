/** Durability on the embedded database: a transaction is only acknowledged once the log is on the disk. */
import { Database as SqliteFile } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { copyFileSync, fdatasync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { createBulk } from '../../../src/storage/bulk.ts';
import type { Database, StorageError, Transaction } from '../../../src/storage/database.ts';
import { openSqlite } from '../../../src/storage/sqlite/index.ts';
import type { Flush } from '../../../src/storage/sqlite/threads/flush.ts';

let folder: string;
const open: Database[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-flush-'));
});
afterEach(async () => {
  for (const database of open.splice(0)) await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const file = () => join(folder, 'catalog.db');

async function openWith(flush: Flush): Promise<Database> {
  const database = openSqlite(file(), { flush });
  open.push(database);
  await database.write(async session => {
    await session.run(sql`create table written (name text)`.compile(database.build));
  });
  return database;
}

const insert = (database: Database, name: string) =>
  database.write(async session => {
    await session.run(sql`insert into written values (${name})`.compile(database.build));
  });

async function namesOf(database: Database): Promise<string[]> {
  const rows = await database.read.all(
    sql<{ name: string }>`select name from written`.compile(database.build),
  );
  return rows.map(({ name }) => name);
}

test('a write is acknowledged after its flush; reads wait for no flush', async () => {
  let held: PromiseWithResolvers<void> | undefined;
  const began = Promise.withResolvers<void>();
  const database = await openWith(async () => {
    began.resolve();
    await held?.promise;
  });
  held = Promise.withResolvers();
  const acknowledged: string[] = [];
  const first = insert(database, 'first').then(() => acknowledged.push('first'));
  const second = began.promise.then(() => insert(database, 'second')).then(() => acknowledged.push('second'));
  await began.promise;
  for (let read = 0; read < 20; read++) await namesOf(database);
  expect(acknowledged).toEqual([]);
  held.resolve();
  await Promise.all([first, second]);
  expect(acknowledged).toEqual(['first', 'second']);
});

test('reads in the turn of a commit see it once it is acknowledged', async () => {
  const database = await openWith(async () => undefined);
  const before = { names: ['none'], state: 0 };
  await database.write(async session => {
    await session.run(sql`insert into written values ('first')`.compile(database.build));
    // As a request does that arrives meanwhile; all reads of one turn share a transaction.
    before.names = await namesOf(database);
    before.state = database.state() ?? 0;
  });
  expect(database.state()).not.toBe(before.state);
  expect([before.names, await namesOf(database)]).toEqual([[], ['first']]);
});

test('a loss of power at any moment keeps what was acknowledged', async () => {
  const copies: string[] = [];
  // Each copy is the content of the disk from one flush until the next.
  const database = await openWith(async descriptor => {
    await promisify(fdatasync)(descriptor);
    const copy = join(folder, `disk-${copies.length}.db`);
    copyFileSync(file(), copy);
    copyFileSync(`${file()}-wal`, `${copy}-wal`);
    copies.push(copy);
  });
  /** The acknowledged names, with the number of copies that existed at that time. */
  const acknowledged: { readonly name: string; readonly copies: number }[] = [];
  const client = async (number: number) => {
    for (let round = 0; round < 15; round++) {
      const name = `${number}-${round}`;
      await insert(database, name);
      acknowledged.push({ name, copies: copies.length });
    }
  };
  await Promise.all([1, 2, 3, 4, 5, 6].map(client));
  expect(acknowledged).toHaveLength(90);
  for (const [index, copy] of copies.entries()) {
    const disk = new SqliteFile(copy);
    const rows = index === 0 ? [] : disk.query<{ name: string }, []>('select name from written').all();
    disk.close();
    const found = new Set(rows.map(({ name }) => name));
    const lost = acknowledged.filter(({ name, copies }) => copies <= index + 1 && !found.has(name));
    expect([index, lost]).toEqual([index, []]);
  }
});

test('a write that cannot be flushed is not acknowledged, nor is any later one; reads continue', async () => {
  let broken = false;
  const database = await openWith(async () => {
    if (broken) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  });
  await insert(database, 'durable');
  broken = true;
  const refusal = async (name: string) => {
    const error = await insert(database, name).then(
      () => undefined,
      (error: StorageError) => error,
    );
    return [error?.kind, error?.message.includes('catalog.db-wal could not be flushed')];
  };
  expect(await refusal('lost')).toEqual(['unavailable', true]);
  // A successful second flush proves nothing about data that the first one dropped.
  broken = false;
  expect(await refusal('later')).toEqual(['unavailable', true]);
  // Not even visible: a client that tries again would write twice.
  expect(await namesOf(database)).not.toContain('later');
  // With this error, /ready reports that the service accepts no writes.
  expect(await database.ping().catch(({ kind }: StorageError) => kind)).toBe('unavailable');
  expect(await namesOf(database)).toContain('durable');
});

const ways: Readonly<Record<string, (session: Transaction, database: Database, name: string) => unknown>> = {
  'by a statement': (session, { build }, name) =>
    session.run(sql`insert into written values (${name})`.compile(build)),
  'by an insert': (session, { build }, name) =>
    session.insert(sql`insert into written values (${name})`.compile(build)),
  'in many rows': (session, database, name) => session.writeMany(allWritten(database), [[name]]),
  'at their end': (session, database, name) => session.writeDeferred(allWritten(database), [[name]]),
};
const allWritten = (database: Database) =>
  createBulk(database, 'written', { name: 'text' }, rows => sql`insert into written ${rows}`);

test.each(Object.entries(ways))(
  'transactions that write very much %s are not all committed together, and none is lost',
  async (_, write) => {
    let flushes = 0;
    const database = await openWith(async () => {
      flushes += 1;
    });
    const before = flushes;
    const names = Array.from({ length: 12 }, (_, index) => `${index} ${'x'.repeat(1_000_000)}`);
    await Promise.all(
      names.map(name =>
        database.write(async session => {
          await write(session, database, name);
        }),
      ),
    );
    // Three of these transactions exceed the limit of a group.
    expect(flushes - before).toBeGreaterThanOrEqual(4);
    expect(await namesOf(database)).toEqual(names);
  },
);

test('a database that is opened again flushes its log, too', async () => {
  await (await openWith(async () => undefined)).close();
  open.splice(0);
  let flushes = 0;
  const again = openSqlite(file(), {
    async flush() {
      flushes += 1;
    },
  });
  open.push(again);
  await insert(again, 'second');
  expect(flushes).toBe(1);
});

test('a write that another process keeps waiting for too long says that a lock is held', async () => {
  await openWith(async () => undefined);
  const other = new SqliteFile(file());
  other.run('begin immediate');
  const waiting = openSqlite(file(), { patience: 0.05 });
  open.push(waiting);
  const refused = await insert(waiting, 'refused').catch((error: StorageError) => error);
  other.run('rollback');
  other.close();
  expect(refused).toMatchObject({ kind: 'unavailable', isLocked: true });
  await insert(waiting, 'written');
  expect(await namesOf(waiting)).toEqual(['written']);
});
