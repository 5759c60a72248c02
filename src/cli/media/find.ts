/** Finds disagreements between the files of images, their rows, and the images that products show. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { type FileStore, matchesHash, type StoredFile } from '../../media/store/store.ts';
import { findHash } from '../../resources/products/members/uploads.ts';
import { productOf } from '../../resources/products/row.ts';
import type { Builder, Database, Session } from '../../storage/database.ts';
import type { Row } from '../../storage/tables.ts';
import { readRowPages, readTable } from '../check/check.ts';

/**
 * A problem of one image; `products` show it. `neither`: products show an image that has no row and no file. `uses`:
 * media_uses lists other products.
 */
export type Wrong = { readonly hash: string; readonly products: readonly number[] } & (
  | { readonly kind: 'file without row'; readonly size: number }
  | { readonly kind: 'row without file' | 'neither' | 'uses' }
  | { readonly kind: 'damaged'; readonly reason: string }
);

export interface Found {
  readonly wrong: readonly Wrong[];
  /** Whether there are rows, but the files of all of them are missing. */
  readonly hasLostAll: boolean;
  readonly files: number;
  /** The size of all files, in bytes. */
  readonly size: number;
}

interface Options {
  /** Whether files are read and compared with their names. */
  readonly content: boolean;
  readonly now: number;
}

/** A file without a row that is younger than this, in milliseconds, may belong to an upload in progress. */
const underWay = 60 * 60 * 1000;

/** @throws HttpError 503 when the file store cannot be reached, or is missing although rows or products name files */
export async function findWrong(database: Database, store: FileStore, options: Options): Promise<Found> {
  // Rows before files: an upload writes its file first, so each row that is read has its file in the list.
  const { rows, shown, noted } = await readOneState(database);
  if (rows.size + shown.size > 0) await store.check();
  const wrong: Wrong[] = [];
  const seen = new Set<string>();
  let size = 0;
  for await (const file of store.list()) {
    seen.add(file.hash);
    size += file.size;
    const products = shown.get(file.hash) ?? [];
    const rowSize = rows.get(file.hash);
    if (rowSize === undefined) {
      if (file.writtenAt > options.now - underWay || (await hasRow(database, file.hash))) continue;
      wrong.push({ kind: 'file without row', hash: file.hash, size: file.size, products });
    } else {
      const reason = await findDamage(store, file, rowSize, options);
      if (reason !== undefined) wrong.push({ kind: 'damaged', hash: file.hash, reason, products });
    }
  }
  for (const hash of new Set([...rows.keys(), ...shown.keys(), ...noted.keys()])) {
    const products = shown.get(hash) ?? [];
    const isKept = rows.has(hash);
    if (!seen.has(hash) && !(await isThere(database, store, hash, isKept)))
      wrong.push({ kind: isKept ? 'row without file' : 'neither', hash, products });
    else if (isKept && !isDeepStrictEqual(products, noted.get(hash) ?? []))
      wrong.push({ kind: 'uses', hash, products });
  }
  const hasLostAll = rows.size > 0 && rows.keys().every(hash => !seen.has(hash));
  return { wrong, hasLostAll, files: seen.size, size };
}

/** Checks again, since the file or the row may have come or gone since the lists were read. */
async function isThere(
  database: Database,
  store: FileStore,
  hash: string,
  isKept: boolean,
): Promise<boolean> {
  if (await store.has(hash)) return true;
  return isKept && !(await hasRow(database, hash));
}

async function findDamage(
  store: FileStore,
  file: StoredFile,
  size: number,
  { content }: Options,
): Promise<string | undefined> {
  if (file.size !== size) return `it has ${file.size} bytes, and had ${size}`;
  if (!content) return undefined;
  const bytes = await store.read(file.hash);
  return bytes === undefined || (await matchesHash(bytes, file.hash))
    ? undefined
    : 'its content is not what its name says';
}

/** From one snapshot: the service may change which products show an image, and the record of it, at any time. */
const readOneState = ({ build, snapshot }: Database) =>
  snapshot(
    async session => ({
      rows: await readSizes(session, build),
      shown: await findShowingProducts(session, build),
      noted: await readNotedUses(session, build),
    }),
    { unlimited: true },
  );

/** The size that each file should have, by hash. */
async function readSizes(session: Session, build: Builder): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const rows of readTable<Row<'media'>>(session, build, { table: 'media', key: ['hash'] }))
    for (const { hash, size } of rows) sizes.set(hash, size);
  return sizes;
}

async function hasRow({ read, build }: Database, hash: string): Promise<boolean> {
  const query = build.selectFrom('media').select('hash').where('hash', '=', hash);
  return (await read.first(query.compile())) !== undefined;
}

/** The ids of the products that show each stored image, ascending, by its hash. */
async function findShowingProducts(session: Session, build: Builder): Promise<Map<string, number[]>> {
  const shown = new Map<string, number[]>();
  const select = sql<{ id: number; document: string }>`select id, document from products`;
  for await (const rows of readRowPages(session, build, select)) {
    for (const row of rows) {
      if (!row.document.includes('"/media/')) continue;
      for (const { url } of productOf(row).images) {
        const hash = findHash(url);
        if (hash === undefined) continue;
        const products = shown.getOrInsertComputed(hash, () => []);
        if (products.at(-1) !== row.id) products.push(row.id);
      }
    }
  }
  return shown;
}

async function readNotedUses(session: Session, build: Builder): Promise<Map<string, number[]>> {
  const noted = new Map<string, number[]>();
  const table = { table: 'media_uses', key: ['hash', 'product_id'] };
  for await (const rows of readTable<Row<'media_uses'>>(session, build, table))
    for (const { hash, product_id } of rows) noted.getOrInsertComputed(hash, () => []).push(product_id);
  return noted;
}
