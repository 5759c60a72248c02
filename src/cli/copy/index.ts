/** `catalog copy`: copies the catalog of the embedded database into PostgreSQL, for a shop that has grown. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, loadConfig } from '../../config.ts';
import { getSecretFile } from '../../secrets/index.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { isCatalog, migrate } from '../../storage/migrations/migrate.ts';
import { getEmbeddedFile, openDatabase } from '../../storage/open.ts';
import { refuseUsed } from '../../storage/sqlite/files/restore.ts';
import { createReferenceCheck } from '../check/parts.ts';
import { createSearchCheck } from '../check/search.ts';
import { awaitAtStart, findEmbeddedSize, requireMigrated } from '../database.ts';
import { formatQuantity } from '../terminal/index.ts';
import { type Command, parse } from '../usage.ts';
import { copyTables, findFilled } from './tables.ts';

export const command: Command = {
  help: `Usage: catalog copy

Copies the whole catalog of the embedded database in DATA_DIR into the PostgreSQL database of DATABASE_URL: products,
categories, users, orders, invoices, events, API keys and sessions, all with their ids, so that links, tokens and event
cursors stay valid. Stop the service first: the command refuses to run while another process has the embedded database
open.

The PostgreSQL database must be empty, or hold a catalog without rows (catalog migrate); missing tables are created. All
rows are copied in one transaction, under the migration lock: a service that starts there waits. The embedded database
is not changed.

JWT_SECRET must be the secret in the file jwt-secret of DATA_DIR, or JWT_PREVIOUS_SECRETS must contain it. Images are
files and are not copied: let the machines share the folder media of DATA_DIR, or a copy of it, by MEDIA_URL.

Exit status: 0 everything was copied; 1 nothing was; 2 the command line is wrong.`,

  async run(args) {
    parse(args, {});
    const config = loadConfig(process.env);
    if (config.DATABASE_URL === undefined)
      throw new Error('DATABASE_URL is not set: it names the PostgreSQL database to copy into');
    requireSecret(config);
    const file = requireEmbedded(config);
    const source = openDatabase({ ...config, DATABASE_URL: undefined });
    const target = openDatabase(config);
    try {
      if (!(await isCatalog(source))) throw new Error(`${file} is not a Catalog database`);
      await requireMigrated(source).catch(error => {
        throw new Error(`${file}, with DATABASE_URL unset: ${error.message}`);
      });
      await awaitAtStart(target);
      // An existing catalog is not migrated: services of an earlier release may be running on it.
      if (await isCatalog(target)) await requireMigrated(target);
      else await migrate(target, Date.now);
      report(await copyCatalog(source, target), config);
      return 0;
    } finally {
      await Promise.all([source.close(), target.close()]);
    }
  },
};

/** Sessions and tokens are valid only under the secret that signed them, and only it can open what it has sealed. */
function requireSecret(config: Config): void {
  const file = getSecretFile(config.DATA_DIR);
  if (!existsSync(file)) return;
  const secret = readFileSync(file, 'utf8').trim();
  if (secret === config.JWT_SECRET || config.JWT_PREVIOUS_SECRETS.includes(secret)) return;
  throw new Error(
    `JWT_SECRET is not the secret in ${resolve(file)}: with another one all users must sign in again, and queued mail cannot be sent. Set JWT_SECRET to the secret in the file, or add that secret to JWT_PREVIOUS_SECRETS`,
  );
}

/** @returns the path of the embedded database @throws Error when there is none, or another process has it open */
function requireEmbedded(config: Config): string {
  const file = resolve(getEmbeddedFile(config));
  if (!findEmbeddedSize(config))
    throw new Error(`there is no database in ${resolve(config.DATA_DIR)} (DATA_DIR)`);
  refuseUsed(file);
  return file;
}

/** Copies all or nothing. The source stays locked, in case a service is started on it during the copy. */
function copyCatalog(source: Database, target: Database): Promise<ReadonlyMap<string, number>> {
  return source.exclusively(reading =>
    target.exclusively(async (writing: Transaction) => {
      const filled = await findFilled(target, writing);
      if (filled !== undefined)
        throw new Error(`the database of DATABASE_URL is not empty: ${filled} has rows; name an empty one`);
      const copied = await copyTables(
        { database: source, session: reading },
        { database: target, session: writing },
      ).catch(async error => {
        // PostgreSQL refuses the rows: the reason is in the embedded database.
        const [line] = await createReferenceCheck(source).find(reading);
        throw line === undefined
          ? error
          : new Error(`the embedded database is damaged: ${line}. ${adviceOnReferences}`);
      });
      await createSearchCheck(target).repair?.(writing, Date.now());
      return copied;
    }),
  );
}

const adviceOnReferences =
  'Nothing was copied. catalog check, with DATABASE_URL unset, finds all such rows: restore a backup, or fix them by hand';

/** The tables whose counts are reported, with their nouns; the other tables hold details of these. */
const shown: Readonly<Record<string, string>> = {
  products: 'product',
  product_variants: 'variant',
  users: 'user',
  orders: 'order',
  invoices: 'invoice',
  events: 'event',
};

function report(copied: ReadonlyMap<string, number>, config: Config): void {
  const counts = Object.entries(shown).map(([table, noun]) => formatQuantity(copied.get(table) ?? 0, noun));
  console.log(`copied ${counts.join(', ')} and everything that belongs to them`);
  const images = copied.get('media') ?? 0;
  if (images > 0 && config.MEDIA_URL === undefined)
    console.log(
      `${formatQuantity(images, 'image')} ${images === 1 ? 'is' : 'are'} in ${resolve(config.DATA_DIR, 'media')}: keep DATA_DIR, or share a copy of that folder by MEDIA_URL`,
    );
  console.log('start the service with this DATABASE_URL and JWT_SECRET to run it on PostgreSQL');
}
