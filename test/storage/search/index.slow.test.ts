/** After any changes, the search index holds the words of the latest state of each document. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Transaction } from '../../../src/storage/database.ts';
import {
  createDialectSpelling,
  createSearchIndex,
  getDialectWords,
  getDocumentType,
  type SearchDocument,
  toPosition,
} from '../../../src/storage/search/index.ts';
import { toDocumentWords } from '../../../src/storage/search/text/words.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const words = ['lantern', 'teapot', 'saucer', 'kettle'];
/** The next state of a product; undefined if it is deleted. */
type Next = { readonly title: string; readonly archived: boolean } | undefined;

const title = fc.subarray(words, { minLength: 1 }).map(some => some.join(' '));
const next = fc.option(fc.record({ title, archived: fc.boolean() }), { nil: undefined, freq: 4 });
const changes = fc.array(fc.record({ id: fc.integer({ min: 1, max: 4 }), next }), {
  minLength: 1,
  maxLength: 6,
});

describeOnDatabases('the search index on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  /** Position and word of all entries of products. */
  async function held(): Promise<string[]> {
    const { read, build } = service.database;
    const entries: string[] = [];
    for await (const some of getDialectWords(service.database).entries(read, build)) {
      const ofProducts = some.filter(({ position }) =>
        ['product', 'archived'].includes(getDocumentType(position)),
      );
      entries.push(...ofProducts.map(({ position, word }) => `${position} ${word}`));
    }
    return entries.sort();
  }

  test('holds the current words of each document in its place, and exactly these for misspelt searches', async () => {
    const { database } = service;
    const index = createSearchIndex(database);
    const documents = new Map<number, SearchDocument>();

    /** Applies a change to `documents`. @returns a function that writes the change to the index */
    function writing(id: number, become: Next) {
      const before = documents.get(id);
      const after = become && { id, body: '', ...become };
      if (after === undefined) documents.delete(id);
      else documents.set(id, after);
      return async (session: Transaction): Promise<void> => {
        if (before !== undefined && after !== undefined)
          await index.change(session, 'product', before, after);
        else if (after !== undefined) await index.add(session, 'product', after);
        else if (before !== undefined) await index.remove(session, 'product', before);
      };
    }

    await fc.assert(
      fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 4 }), async transactions => {
        const writes = transactions.map(some => {
          const all = some.map(({ id, next }) => writing(id, next));
          return async (session: Transaction) => {
            for (const write of all) await write(session);
          };
        });
        // On SQLite, concurrent transactions are committed together, in order; on PostgreSQL, only those that declare
        // what they touch.
        if (kind === 'sqlite') await Promise.all(writes.map(write => database.write(write)));
        else for (const write of writes) await database.write(write);
        const expected = [...documents.values()].flatMap(document => {
          const position = toPosition(document.archived === true ? 'archived' : 'product', document.id);
          return toDocumentWords(document).map(word => `${position} ${word}`);
        });
        expect(await held()).toEqual(expected.sort());
        expect(await createDialectSpelling(database).isWhole(database.read)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
