/** Runs the real program as a child process, on a database of its own. */
import { Database as Connection } from 'bun:sqlite';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { loadConfig } from '../../src/config.ts';
import { productOf, type StoredProduct, toProductFields } from '../../src/resources/products/row.ts';
import type { Product, ProductFields } from '../../src/resources/products/schema.ts';
import { type StoredVariant, variantOf } from '../../src/resources/variants/row.ts';
import type { Variant } from '../../src/resources/variants/schema.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open.ts';
import { createDatabase } from '../support/service/postgres.ts';
import { noteRunning } from '../support/service/running.ts';
import { copyEmpty, type DatabaseKind } from '../support/service/template.ts';
import { runHere } from './here.ts';

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Place {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Writes a file into the folder. @returns its path */
  file(name: string, content: string | Uint8Array): string;
  /** Runs the program to its end, in a process of its own. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** Runs the program in this process, which is faster; here.ts says which commands this works for. */
  runHere(args: readonly string[]): Promise<Ended>;
  /**
   * @param wrapper a command that sets something up and then executes the program given as its arguments
   * @param program the main file of another release, by default this one's
   */
  start(args: readonly string[], wrapper?: readonly string[], program?: string): Running;
  remove(): void;
}

export type Running = ReturnType<typeof spawn>;

/** Where run.ts keeps the processes of the tests from optimizing what runs for seconds, programs do without too. */
export const runtime = process.env.BUN_JSC_useFTLJIT === '0' ? { BUN_JSC_useDFGJIT: '0' } : {};

/** The bundle that a run of all tests has built, or else main.ts. */
export const main = process.env.TEST_PROGRAM ?? join(import.meta.dir, '..', '..', 'src', 'main.ts');

/**
 * Creates a place with a migrated, empty database, for tests that do not concern the first start.
 * @param settings override the defaults
 */
export async function createCatalog(
  kind: DatabaseKind,
  settings: Readonly<Record<string, string>> = {},
): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-cli-'));
  return placeIn(folder, { ...(await copyEmpty(kind, join(folder, 'data'))), ...settings });
}

/**
 * Creates a place without a catalog: with no embedded database, or with an empty PostgreSQL database.
 * @param settings override the defaults, which name an embedded database in a temporary folder for SQLite
 */
export async function createPlace(
  kind: DatabaseKind,
  settings: Readonly<Record<string, string>> = {},
): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-cli-'));
  return placeIn(folder, {
    ...(kind === 'postgresql' ? { DATABASE_URL: await createDatabase() } : {}),
    ...settings,
  });
}

/**
 * Runs `work` on a new SQLite catalog, and removes the catalog afterwards.
 * @param settings override the defaults
 */
export async function onCatalog(
  work: (place: Place) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const place = await createCatalog('sqlite', settings);
  try {
    await work(place);
  } finally {
    place.remove();
  }
}

function placeIn(folder: string, settings: Readonly<Record<string, string>>): Place {
  const environment = {
    DATA_DIR: join(folder, 'data'),
    STOP_DELAY: '0',
    JWT_SECRET: 'a secret for tests that is long enough for HS256',
    ...settings,
  };
  return {
    folder,
    environment,
    file(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    async run(args, input) {
      const child = spawn(args, environment);
      if (input !== undefined) child.stdin.write(input);
      await child.stdin.end();
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { status: await child.exited, out, err };
    },
    runHere: args => runHere(args, environment),
    start: (args, wrapper, program) => spawn(args, environment, wrapper, program),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function spawn(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  wrapper: readonly string[] = [],
  program = main,
) {
  const child = Bun.spawn([...wrapper, process.execPath, program, ...args], {
    env: { PATH: process.env.PATH ?? '', ...runtime, ...environment },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  noteRunning(child);
  return child;
}

/** Reads until the text matches. @throws Error when the stream ends first */
export async function waitFor(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<RegExpExecArray> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      text += decoder.decode(value, { stream: true });
      const match = pattern.exec(text);
      if (match !== null) return match;
      if (done) throw new Error(`the output ended without ${pattern}: ${text}`);
    }
  } finally {
    reader.releaseLock();
  }
}

/** The settings with which a service uses the database of a place. */
export function databaseOf({ environment }: Place): Record<string, string> {
  const { DATA_DIR = '', DATABASE_URL } = environment;
  return DATABASE_URL === undefined ? { DATA_DIR } : { DATA_DIR, DATABASE_URL };
}

export async function withDatabaseOf<T>(place: Place, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(loadConfig(place.environment));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Waits until an import that has the embedded database to itself has written this many products. */
export async function untilThereAre(count: number, place: Place): Promise<void> {
  using connection = new Connection(join(place.folder, 'data', 'catalog.db'), { readonly: true });
  const enough = connection.query(`select 1 from products limit 1 offset ${count - 1}`);
  while (enough.get() === null) await new Promise(resolve => setImmediate(resolve));
}

/** All products, ordered by id. */
export function productsOf(place: Place): Promise<Product[]> {
  return withDatabaseOf(place, async database => {
    const query = sql<StoredProduct>`select id, document, updated_at from products order by id`;
    return (await database.read.all(query.compile(database.build))).map(productOf);
  });
}

/** The variants of all products, in order of product and position. */
export function variantsOf(place: Place): Promise<Variant[]> {
  return withDatabaseOf(place, async database => {
    const query = sql<StoredVariant>`select id, document, updated_at from product_variants
      order by product_id, position, id`;
    return (await database.read.all(query.compile(database.build))).map(variantOf);
  });
}

/** The written fields of all products, with their own prices even where prices of variants are shown. */
export function writtenIn(place: Place): Promise<ProductFields[]> {
  return withDatabaseOf(place, async database => {
    const query = sql<
      StoredProduct & { base_price: number | null }
    >`select id, document, updated_at, base_price
      from products order by id`;
    const rows = await database.read.all(query.compile(database.build));
    return rows.map(row => toProductFields(productOf(row), row.base_price));
  });
}

/** The fields of a product, without its id and dates. */
export const fieldsOf = (product: Product): ProductFields => toProductFields(product, null);

interface Count {
  readonly status: string;
  readonly category_id: number;
  readonly total: number;
}

/** The stored totals, and the same counted from the products, which must be equal. */
export function totalsOf(place: Place): Promise<{ kept: Count[]; counted: Count[] }> {
  return withDatabaseOf(place, async database => {
    const kept = sql<Count>`select status, category_id, cast(sum(total) as integer) as total from product_totals
      group by status, category_id having sum(total) <> 0 order by status, category_id`;
    const counted = sql<Count>`select status, coalesce(category_id, 0) as category_id, cast(count(*) as integer) as total
      from products group by status, coalesce(category_id, 0) order by status, coalesce(category_id, 0)`;
    return {
      kept: await database.read.all(kept.compile(database.build)),
      counted: await database.read.all(counted.compile(database.build)),
    };
  });
}

/** A number that changes with every change to products. */
export function versionOf(place: Place): Promise<number> {
  return withDatabaseOf(place, async database => {
    const query = sql<{ version: number }>`select coalesce(sum(version), 0) as version
      from collection_versions where collection = 'products'`;
    return (await database.read.first(query.compile(database.build)))?.version ?? 0;
  });
}

/** The text of a file of NDJSON. */
export const ndjsonOf = (records: readonly object[]): string =>
  records.map(record => `${JSON.stringify(record)}\n`).join('');

/** A CSV file of three products. */
export const csv = [
  'sku,name,price,category,tags,description',
  'A-1,Lamp,10.5,lighting,desk;wood,"A lamp, small"',
  'A-2,Chair,20,seating,,',
  'A-3,Table,30,,,',
].join('\r\n');
