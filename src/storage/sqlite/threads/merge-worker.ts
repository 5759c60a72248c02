/**
 * The thread that puts pieces of the search index together: see merge.ts. It responds to each message `merge` with whether
 * there is more to be done, and ends on `close`.
 */
import { Database as Connection, SQLiteError } from 'bun:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { mergeSome, mergingSettings } from '../../search/sqlite.ts';

/** Milliseconds for which other processes are waited for that write. */
const busyTimeoutMs = 50;

const connection = new Connection(String(workerData), { readwrite: true, strict: true });
connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
connection.run('PRAGMA cache_size = -4000');
// As the writer: it flushes the log, and another thread copies it.
connection.run('PRAGMA synchronous = NORMAL');
connection.run('PRAGMA wal_autocheckpoint = 0');
const countChanges = connection.prepare<{ total: number }, []>('select total_changes() as total');

/** An import has its own settings, and leaves those of a database that no service has open. */
function ensureSettings(): void {
  const rows = connection.query<{ k: string; v: unknown }, []>('select k, v from search_index_config').all();
  const known = new Map(rows.map(({ k, v }) => [k, Number(v)]));
  for (const { name, value, statement } of mergingSettings)
    if (known.get(name) !== value) connection.run(statement);
}

/** @returns whether there is more to be merged */
const merge = connection.transaction((): boolean => {
  ensureSettings();
  const before = countChanges.get()?.total ?? 0;
  connection.run(mergeSome);
  // Where there is nothing to do, the command is all that is counted.
  return (countChanges.get()?.total ?? 0) - before > 1;
});

function tryMerge(): boolean {
  try {
    return merge.immediate();
  } catch (error) {
    // Another process writes: later.
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true) return true;
    throw error;
  }
}

parentPort?.on('message', message => {
  if (message === 'merge') {
    parentPort?.postMessage(tryMerge());
    return;
  }
  countChanges.finalize();
  connection.close();
  parentPort?.close();
});
