/** The state of an SQLite database: a number that changes with every commit of any process, and only then. */

import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Database, Session } from '../../src/storage/database.ts';
import { createQueriedState } from '../../src/storage/sqlite/change-counter.ts';
import { connectReader } from '../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';
import { expectRejection } from '../support/http/rejection.ts';

let folder: string;
let file: string;
let database: Database;
let other: Connection;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-state-'));
  file = join(folder, 'catalog.db');
  database = openSqlite(file);
  other = new Connection(file);
  other.run('create table numbers (number integer)');
});
afterAll(async () => {
  other.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const insert = 'insert into numbers values (1)';
const run = (text: string) => sql.raw(text).compile(database.build);

/** Commits of other connections are visible from the next turn of the event loop on. */
const turn = () => new Promise(resolve => setImmediate(resolve));

async function count(): Promise<number> {
  const row = await database.read.first(
    sql<{ count: number }>`select count(*) as count from numbers`.compile(database.build),
  );
  return row?.count ?? 0;
}

/** The ways to use the file, and whether they commit something. */
const steps: Readonly<Record<string, { readonly commits: boolean; run(): unknown }>> = {
  'own commit': { commits: true, run: () => database.write(session => session.run(run(insert))) },
  'own commits together': {
    commits: true,
    run: () => Promise.all([1, 2].map(() => database.write(session => session.run(run(insert))))),
  },
  'own rollback': {
    commits: false,
    run: () =>
      expectRejection(
        database.write(async session => {
          await session.run(run(insert));
          throw new Error('no');
        }),
        'no',
      ),
  },
  'own empty transaction': { commits: false, run: () => database.write(async () => undefined) },
  'own read': { commits: false, run: count },
  'own snapshot': {
    commits: false,
    run: () => database.snapshot(session => session.all(run('select * from numbers limit 1'))),
  },
  "another's commit": { commits: true, run: () => other.run(insert) },
  "another's rollback": { commits: false, run: () => other.run(`begin; ${insert}; rollback`) },
  "another's read": { commits: false, run: () => other.query('select count(*) from numbers').get() },
};

test('the state read by SQL, where the file cannot be read, changes with each commit and only then', async () => {
  const connected = connectReader(file);
  const current = createQueriedState(connected, () => undefined);
  for (const [name, step] of Object.entries(steps)) {
    const before = current();
    await step.run();
    expect({ name, changed: current() !== before }).toEqual({ name, changed: step.commits });
  }
  connected.close();
});

test.skipIf(!existsSync('/proc/locks'))('reading the file releases no lock of SQLite', async () => {
  // The first process to open a database empties the wal-index; the script must not take itself for the first.
  const script = `new (require('bun:sqlite').Database)(process.argv[1]).query('select count(*) from numbers').get()`;
  database.state();
  expect(Bun.spawnSync([process.execPath, '-e', script, file]).exitCode).toBe(0);
  expect(statSync(`${file}-shm`).size).toBeGreaterThan(0);
  const locks = readFileSync('/proc/locks', 'utf8').split('\n');
  const inode = `:${statSync(`${file}-shm`).ino} `;
  expect(locks.filter(line => line.includes(inode) && line.includes(` ${process.pid} `))).not.toEqual([]);
});

test('the state changes with each commit and only then, and reads are as new as it is', async () => {
  const names = fc.array(fc.constantFrom(...Object.keys(steps)), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(names, async sequence => {
      for (const name of sequence) {
        const step = steps[name];
        if (step === undefined) throw new Error(`there is no step ${name}`);
        await turn();
        const before = database.state();
        // Opens the transaction that reads of this turn share, which must not outlive the state.
        await count();
        await step.run();
        await turn();
        expect({ name, changed: database.state() !== before }).toEqual({ name, changed: step.commits });
        const rows = other.query<{ count: number }, []>('select count(*) as count from numbers').get();
        expect(await count()).toBe(rows?.count ?? -1);
        expect(database.state() === before).toBe(!step.commits);
      }
    }),
  );
});

test('the state changes after the log begins again and another process commits', async () => {
  // A read of the test before may share its transaction with this turn.
  await turn();
  const numbers = new Set([database.state()]);
  for (let round = 0; round < 5; round++) {
    other.run('pragma wal_checkpoint(truncate)');
    const script = `new (require('bun:sqlite').Database)(process.argv[1]).run(${JSON.stringify(insert)})`;
    const before = await count();
    expect(Bun.spawnSync([process.execPath, '-e', script, file]).exitCode).toBe(0);
    await turn();
    numbers.add(database.state());
    expect(await count()).toBe(before + 1);
  }
  expect(numbers.size).toBe(6);
});

test('a request sees what others committed before it, although a read began in the turn before', async () => {
  for (let round = 0; round < 3; round++) {
    // A request that reads nothing.
    database.refresh();
    await turn();
    // Late in the turn: the transaction of this read lasts into the next one.
    const before = await count();
    other.run(insert);
    database.refresh();
    expect(await count()).toBe(before + 1);
    await turn();
  }
});

test('reads after the state are as new as it is, although an older read of the turn shares its transaction', async () => {
  await turn();
  const before = await count();
  other.run(insert);
  database.state();
  expect(await count()).toBe(before + 1);
});

test('the state read by SQL ends a transaction that would hide commits', () => {
  const connected = connectReader(file);
  const current = createQueriedState(connected, () => {
    if (connected.connection.inTransaction) connected.execute('COMMIT');
  });
  const before = current();
  connected.execute('BEGIN');
  connected.connection.query('select * from numbers').get();
  other.run(insert);
  expect(current() !== before).toBe(true);
  connected.close();
});

test('the state is read again in each turn, even if nothing else is read', async () => {
  const before = database.state();
  await turn();
  other.run(insert);
  expect(database.state() !== before).toBe(true);
});

describe('the state is as new as a read in the same turn', () => {
  const readCount = (session: Session) => session.all(run('select count(*) from numbers'));
  /** @param read runs after another process has committed, within a turn that has already read the state */
  async function expectNewState(read: () => Promise<unknown>): Promise<void> {
    await turn();
    const before = database.state();
    other.run(insert);
    await read();
    expect(database.state() !== before).toBe(true);
  }

  test('outside a snapshot', () => expectNewState(() => readCount(database.read)));

  test('in a snapshot', () => expectNewState(() => database.snapshot(readCount)));

  test('in a snapshot in the background', () =>
    database.snapshot(
      session =>
        expectNewState(() => {
          const rows = readCount(session);
          // The turn lasts until the thread has sent the rows.
          Bun.sleepSync(20);
          return rows;
        }),
      { background: true },
    ));
});
