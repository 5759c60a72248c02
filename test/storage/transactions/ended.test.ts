/** A session does nothing after its transaction has ended: otherwise it would write into another transaction. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { type Bulk, createBulk, createBulkInsert } from '../../../src/storage/bulk.ts';
import type { Database, Transaction } from '../../../src/storage/database.ts';
import { expectRejection } from '../../support/http/rejection.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const createStatement = (database: Database): Bulk =>
  createBulk(database, 'written', { name: 'text' }, rows => sql`insert into written (name) ${rows}`);
const name = 'late';
const insertion = sql`insert into written (name) values (${name})`;

/** The methods of a transaction: reading, writing, and deferring work to its end. */
const uses: Readonly<Record<string, (session: Transaction, database: Database) => unknown>> = {
  separate: session => session.separate(),
  all: (session, { build }) => session.all(sql`select 1`.compile(build)),
  first: (session, { build }) => session.first(sql`select 1`.compile(build)),
  run: (session, { build }) => session.run(insertion.compile(build)),
  insert: (session, { build }) => session.insert(insertion.compile(build)),
  insertMany: (session, database) =>
    session.insertMany(createBulkInsert(database, 'written', { name: 'text' }), [[name]]),
  writeMany: (session, database) => session.writeMany(createStatement(database), [[name]]),
  writeDeferred: (session, database) => session.writeDeferred(createStatement(database), [[name]]),
  increment: (session, database) =>
    session.increment({ key: name, statement: createStatement(database), row: () => [name] }, 1),
  atEnd: session =>
    session.atEnd({ run: () => Promise.reject(new Error('was run at the end of another')) }, name),
  onCommit: session =>
    session.onCommit(() => {
      throw new Error('was run after the commit of another');
    }),
};

/** On PostgreSQL, work deferred to the end of a transaction that has already ended is ignored instead of refused. */
const leaving = ['separate', 'writeDeferred', 'increment', 'atEnd', 'onCommit'];

describeOnDatabases('a session that is used after its transaction on %s', kind => {
  let service: TestService;
  let database: Database;
  beforeAll(async () => {
    service = await startTestService(kind);
    database = service.database;
    const { build, dialect } = database;
    const table = sql`create table written (id ${dialect.types.id}, name varchar(200))`;
    await database.write(session => session.run(table.compile(build)));
  });
  afterAll(() => service.stop());

  const readOne = (session: Transaction) => session.all(sql`select 1`.compile(database.build));

  // Alone, and beside another session, which may share a transaction of the database with it.
  test.each(Object.keys(uses).flatMap(name => [1, 2].map(count => [name, count] as const)))(
    '%s does nothing in the next transaction: %i at once',
    async (name, count) => {
      const ended: Transaction[] = [];
      const end = (index: number) =>
        database.write(
          async session => {
            ended.push(session);
            await readOne(session);
          },
          { touches: [`row ${index}`] },
        );
      await Promise.all(Array.from({ length: count }, (_, index) => end(index)));
      expect(ended.length).toBe(count);
      const isRefused = kind === 'sqlite' || !leaving.includes(name);
      const useEnded = async () => {
        for (const session of ended) {
          const use = async () => uses[name]?.(session, database);
          if (isRefused) await expectRejection(use(), 'A session was used after its transaction had ended.');
          else await use();
        }
      };
      await useEnded();
      await database.write(async session => {
        await readOne(session);
        await useEnded();
      });
      const written = sql`select name from written`.compile(database.build);
      expect(await database.read.all(written)).toEqual([]);
    },
  );
});
