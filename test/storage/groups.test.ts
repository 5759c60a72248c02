/** Transactions that are committed together: each as if it were alone, whatever becomes of the others. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { bulk } from '../../src/storage/bulk.ts';
import type { Database, Transaction } from '../../src/storage/database.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';

let folder: string;
let database: Database;
const compiled = (text: string) => sql.raw(text).compile(database.build);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-groups-'));
  database = openSqlite(join(folder, 'catalog.db'));
  await database.write(async session => {
    await session.run(compiled('create table written (id integer primary key, name text unique)'));
    await session.run(compiled('create table late (name text not null unique)'));
    await session.run(compiled('create table counters (name text primary key, total integer)'));
    await session.run(compiled(`insert into counters values ('all', 0)`));
    await session.run(compiled(`insert into written (name) values ('taken')`));
  });
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a transaction may do, in some order. */
const actions = ['write', 'write and return', 'late', 'count', 'fail', 'break a rule', 'read'] as const;
type Action = (typeof actions)[number];
const fails = (job: readonly Action[]) => job.includes('fail') || job.includes('break a rule');

async function run(session: Transaction, name: string, job: readonly Action[]): Promise<void> {
  const late = bulk('late', [4, 1], size =>
    sql`insert into late values ${sql.join(new Array(size).fill(sql`(${null})`))}`.compile(database.build),
  );
  for (const [index, action] of job.entries()) {
    const own = `${name}-${index}`;
    if (action === 'write') await session.run(compiled(`insert into written (name) values ('${own}')`));
    if (action === 'write and return') {
      await session.all(compiled(`insert into written (name) values ('${own}') returning id`));
    }
    if (action === 'late') await session.insertDeferred(late, [own]);
    if (action === 'count') {
      const key = 'all';
      session.add({ key, plus: amount => compiled(`update counters set total = total + ${amount}`) }, 1);
    }
    if (action === 'fail') throw new Error('told to fail');
    if (action === 'break a rule') await session.run(compiled(`insert into written (name) values ('taken')`));
    if (action === 'read') await session.all(compiled('select * from written limit 1'));
  }
}

async function contents() {
  const names = async (table: string) => {
    const rows = await database.read.all<{ name: string }>(
      sql<{ name: string }>`select name from
      ${sql.table(table)} order by name`.compile(database.build),
    );
    return rows.map(({ name }) => name);
  };
  const counter = await database.read.first(
    sql<{ total: number }>`select total from counters`.compile(database.build),
  );
  return { written: await names('written'), late: await names('late'), total: counter?.total };
}

test('those that fail leave nothing, the others everything, in whichever order they came', async () => {
  const jobs = fc.array(fc.array(fc.constantFrom(...actions), { maxLength: 5 }), {
    minLength: 1,
    maxLength: 12,
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(jobs, async group => {
      round += 1;
      const before = await contents();
      const results = await Promise.allSettled(
        group.map((job, index) =>
          database.write(session => run(session, `${round}-${String(index).padStart(2, '0')}`, job)),
        ),
      );
      expect(results.map(({ status }) => status)).toEqual(
        group.map(job => (fails(job) ? 'rejected' : 'fulfilled')),
      );
      const named = (...wanted: Action[]) =>
        group.flatMap((job, index) =>
          fails(job)
            ? []
            : job.flatMap((action, at) =>
                wanted.includes(action) ? [`${round}-${String(index).padStart(2, '0')}-${at}`] : [],
              ),
        );
      expect(await contents()).toEqual({
        written: [...before.written, ...named('write', 'write and return')].sort(),
        late: [...before.late, ...named('late')].sort(),
        total: (before.total ?? 0) + named('count').length,
      });
    }),
  );
});
