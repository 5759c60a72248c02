/**
 * Prepared databases: created once for each size and schema, kept in the system's folder for temporary files,
 * and copied for each run, so that the writes of a run do not affect the next one.
 */
import { Database as Connection } from 'bun:sqlite';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { openDatabase } from '../../src/storage/open.ts';
import { fillWithAttributes } from '../data/attribute-data.ts';
import { fill } from '../data/catalog-data.ts';
import type { PostgresServer } from './postgres.ts';
import { shipped } from './servers.ts';

export type DatabaseKind = 'sqlite' | 'postgresql';
export const databaseKinds: readonly DatabaseKind[] = ['sqlite', 'postgresql'];

/** A copy for a single run of the service, which may change it. */
export interface RunDatabase {
  /** The settings with which the service finds the copy. */
  readonly settings: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export const cacheFolder = join(tmpdir(), 'catalog-bench');
/** The content of prepared databases. */
interface Contents {
  readonly name: string;
  /** Files of bench/ that determine the content. */
  readonly files: readonly string[];
  fill(database: Database, size: number): Promise<void>;
}

const plain: Contents = { name: '', files: ['data/catalog-data.ts'], fill };
/** Products with ten attributes each. */
export const attributed: Contents = {
  name: 'attributes_',
  files: ['data/attribute-data.ts'],
  fill: fillWithAttributes,
};

const source = join(import.meta.dir, '..', '..', 'src');

/** A hash that changes with a migration, the row or file format, or the synthetic data. */
function schemaHash({ files: own }: Contents): string {
  const migrations = join(source, 'storage', 'migrations');
  const files = [
    ...readdirSync(migrations)
      .sort()
      .map(name => join(migrations, name)),
    join(source, 'resources', 'products', 'store.ts'),
    join(source, 'storage', 'sqlite', 'connection.ts'),
    ...['index', 'sqlite', 'postgres', 'text/words', 'text/split', 'text/folded', 'spelling'].map(part =>
      join(source, 'storage', 'search', `${part}.ts`),
    ),
    ...[...own, 'load/random.ts'].map(name => join(import.meta.dir, '..', name)),
  ];
  const hasher = new Bun.CryptoHasher('sha256');
  for (const file of files) hasher.update(readFileSync(file));
  return hasher.digest('hex').slice(0, 10);
}

/** A folder for a single run, removed when the process ends at the latest. */
export function runFolder(): string {
  mkdirSync(cacheFolder, { recursive: true });
  const folder = mkdtempSync(join(cacheFolder, 'run-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function sqliteCopy(size: number, contents = plain): Promise<RunDatabase> {
  const prepared = join(cacheFolder, `sqlite-${contents.name}${schemaHash(contents)}-${size}`);
  if (!existsSync(prepared)) {
    const unfinished = runFolder();
    await make({ DATA_DIR: unfinished }, size, contents);
    intoOneFile(join(unfinished, 'catalog.db'));
    renameSync(unfinished, prepared);
  }
  const folder = runFolder();
  copyFileSync(join(prepared, 'catalog.db'), join(folder, 'catalog.db'));
  return {
    settings: { DATA_DIR: folder },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Moves the content of the write-ahead log into the database file, the only one that is copied. */
function intoOneFile(file: string): void {
  const connection = new Connection(file);
  connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
}

export async function postgresCopy(
  server: PostgresServer,
  size: number,
  contents = plain,
): Promise<RunDatabase> {
  const prepared = `bench_${contents.name}${schemaHash(contents)}_${size}`;
  if (!(await server.has(prepared))) {
    const unfinished = `${prepared}_unfinished`;
    await server.drop(unfinished);
    await server.create(unfinished);
    await make({ DATABASE_URL: server.url(unfinished) }, size, contents);
    await server.rename(unfinished, prepared);
  }
  const name = `bench_run_${size}`;
  await server.drop(name);
  await server.create(name, prepared);
  return { settings: { DATABASE_URL: server.url(name) }, remove: () => server.drop(name) };
}

async function make(
  settings: Readonly<Record<string, string>>,
  size: number,
  contents: Contents,
): Promise<void> {
  const config = loadConfig({ ...shipped, ...settings });
  const database = openDatabase(config);
  try {
    await migrate(database, Date.now);
    await contents.fill(database, size);
  } finally {
    await database.close();
  }
}
