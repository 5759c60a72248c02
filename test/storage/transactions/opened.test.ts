/** Opening an SQLite file without a log while another process writes to it. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../src/storage/sqlite/connection.ts';

test('an import waits for the transaction of another that began at the same moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-opened-'));
  const file = join(folder, 'catalog.db');
  const created = new Database(file);
  created.run('create table lines (line text)');
  created.close();
  const writer = `const { Database } = require('bun:sqlite');
    const other = new Database(${JSON.stringify(file)});
    other.run('begin exclusive');
    console.log('begun');
    setTimeout(() => other.run('commit'), 300);`;
  const child = Bun.spawn([process.execPath, '-e', writer], { stdout: 'pipe' });
  await child.stdout.getReader().read();
  const connected = connect(file, true);
  expect(connected.connection.query('select line from lines').all()).toEqual([]);
  connected.close();
  await child.exited;
  rmSync(folder, { recursive: true });
});
