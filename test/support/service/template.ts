/**
 * A database as every service under test begins with: its tables, three people, and their sign-ins; and one that has
 * its tables only. Each is made once in each process and copied, because migrating costs far more than copying: as much
 * as all that the tests of a usual file do.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/operations/log.ts';
import { startService } from '../../../src/service.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { getEmbeddedFile, openDatabase } from '../../../src/storage/open.ts';
import { addUsers, signInAll, type Tokens } from '../data/sign-in.ts';
import { copyDatabase, createDatabase, keepForRun, throughPooler } from './postgres.ts';

export type DatabaseKind = 'sqlite' | 'postgresql';

/** When the clock of every service under test begins. */
export const beginning = Date.UTC(2026, 0, 15, 9, 30);

/** JWT_SECRET of every service under test. */
export const serviceSecret = 'a secret for tests that is long enough for HS256';

/** A database without connections. */
interface Template {
  /** Of the embedded database; its file is alone in it. */
  readonly folder: string;
  readonly url: string | undefined;
}

interface Peopled extends Template {
  /** Of the three people; good for every copy whose service signs with `serviceSecret`. */
  readonly tokens: Tokens;
}

const emptyTemplates = new Map<DatabaseKind, Promise<Template>>();
const peopledTemplates = new Map<DatabaseKind, Promise<Peopled>>();

function once<T>(
  made: Map<DatabaseKind, Promise<T>>,
  kind: DatabaseKind,
  make: () => Promise<T>,
): Promise<T> {
  const known = made.get(kind) ?? make();
  made.set(kind, known);
  return known;
}

const emptyTemplate = (kind: DatabaseKind) => once(emptyTemplates, kind, () => createEmpty(kind));
const peopledTemplate = (kind: DatabaseKind) => once(peopledTemplates, kind, () => createPeopled(kind));

/** @returns what has to be added to the settings of who is to find the copy there */
async function copy(template: Template, dataFolder: string): Promise<Readonly<Record<string, string>>> {
  if (template.url !== undefined) return { DATABASE_URL: throughPooler(await copyDatabase(template.url)) };
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  copyFileSync(getEmbeddedFile({ DATA_DIR: template.folder }), getEmbeddedFile({ DATA_DIR: dataFolder }));
  return {};
}

/**
 * Puts a database that is migrated and holds nothing where a program with these settings looks for it.
 * @returns what has to be added to the settings
 */
export async function copyEmpty(
  kind: DatabaseKind,
  dataFolder: string,
): Promise<Readonly<Record<string, string>>> {
  return copy(await emptyTemplate(kind), dataFolder);
}

/**
 * Puts a copy of the template where a service with these settings looks for its database.
 * @returns what has to be added to the settings, and the tokens of the three people
 */
export async function copyTemplate(
  kind: DatabaseKind,
  dataFolder: string,
): Promise<{ readonly settings: Readonly<Record<string, string>>; readonly tokens: Tokens }> {
  const template = await peopledTemplate(kind);
  return { settings: await copy(template, dataFolder), tokens: template.tokens };
}

const clock = { now: () => beginning };
const newFolder = () => mkdtempSync(join(tmpdir(), 'catalog-template-'));

async function createEmpty(kind: DatabaseKind): Promise<Template> {
  const folder = newFolder();
  const url = kind === 'postgresql' ? await createDatabase() : undefined;
  const settings = url === undefined ? {} : { DATABASE_URL: url };
  const database = openDatabase(loadConfig({ DATA_DIR: folder, JWT_SECRET: serviceSecret, ...settings }));
  await migrate(database, clock.now);
  await database.close();
  if (url !== undefined) keepForRun(url);
  return { folder, url };
}

async function createPeopled(kind: DatabaseKind): Promise<Peopled> {
  const folder = newFolder();
  // Not through a pooler, which would keep its connections: what is connected to cannot be copied.
  const empty = await emptyTemplate(kind);
  const url = empty.url === undefined ? undefined : await copyDatabase(empty.url);
  const settings = url === undefined ? await copy(empty, folder) : { DATABASE_URL: url };
  const config = loadConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    JWT_SECRET: serviceSecret,
    ...settings,
  });
  const database = openDatabase(config);
  await addUsers(database, beginning);
  const log = createLog(config.LOG_LEVEL, () => undefined, clock.now);
  const service = startService({ config, clock, log, database });
  const tokens = await signInAll(service.address);
  await service.settle();
  await service.stop();
  // The charges of these sign-ins are removed: each service begins with its whole quota.
  await database.write(session => session.run(database.build.deleteFrom('quotas').compile()));
  await database.close();
  if (url !== undefined) keepForRun(url);
  return { folder, url, tokens };
}

/** Removes the templates' files. */
export async function removeTemplates(): Promise<void> {
  const made = await Promise.all([...emptyTemplates.values(), ...peopledTemplates.values()]);
  for (const { folder } of made) rmSync(folder, { recursive: true, force: true });
  emptyTemplates.clear();
  peopledTemplates.clear();
}
