/** Pieces of the search index on the embedded database are merged by separate statements, some pages at a time. */
import { Database as SqliteFile } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createSearchIndex } from '../../../src/storage/search/index.ts';
import { openSqlite } from '../../../src/storage/sqlite/index.ts';

/** Fewer than those at which a statement that writes documents merges: see `slicedSettings`. */
const many = 190;

test('the index keeps few pieces, no statement that writes documents merges any, and all documents are found', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-merging-'));
  const file = join(folder, 'catalog.db');
  const database = openSqlite(file);
  await migrate(database, Date.now);
  const index = createSearchIndex(database);
  for (let id = 1; id <= many; id++)
    await database.write(session => index.add(session, 'product', { id, title: `Lamp ${id}`, body: '' }));
  const reader = new SqliteFile(file, { readonly: true });
  const settings = new Map(
    reader
      .query<{ k: string; v: number }, []>('select k, v from search_index_config')
      .all()
      .map(({ k, v }) => [k, v]),
  );
  expect([settings.get('automerge'), settings.get('usermerge')]).toEqual([0, 8]);
  const pieces = reader
    .query<{ n: number }, []>('select count(distinct segid) as n from search_index_idx')
    .get();
  // At most eight pieces of a single document, and at most eight of each larger size.
  expect(pieces?.n).toBeLessThan(20);
  const found = reader
    .query<{ n: number }, []>("select count(*) as n from search_index where search_index match 'lamp'")
    .get();
  expect(found?.n).toBe(many);
  reader.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});
