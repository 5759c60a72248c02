/**
 * The database with which every service under test begins, with tables, three users and their sign-ins; and an empty
 * one, with tables only. Each is created once per process and copied: migrating costs far more than copying, as much as
 * all the tests of a typical file.
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

/** The time at which the clock of every service under test begins. */
export const beginning = Date.UTC(2026, 0, 15, 9, 30);

/** JWT_SECRET of every service under test. */
export const serviceSecret = 'a secret for tests that is long enough for HS256';

/** A database without connections. */
interface Template {
  /** The folder of the embedded database, which holds only its file. */
  readonly folder: string;
  readonly url: string | undefined;
}

interface Peopled extends Template {
  /** Tokens of the three users, valid in every copy whose service signs with `serviceSecret`. */
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

/** @returns the settings with which a service finds the copy */
async function copy(template: Template, dataFolder: string): Promise<Readonly<Record<string, string>>> {
  if (template.url !== undefined) return { DATABASE_URL: throughPooler(await copyDatabase(template.url)) };
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  copyFileSync(getEmbeddedFile({ DATA_DIR: template.folder }), getEmbeddedFile({ DATA_DIR: dataFolder }));
  return {};
}

/**
 * Puts a migrated, empty database where a program with this data folder looks for it.
 * @returns the settings to add
 */
export async function copyEmpty(
  kind: DatabaseKind,
  dataFolder: string,
): Promise<Readonly<Record<string, string>>> {
  return copy(await emptyTemplate(kind), dataFolder);
}

/**
 * Puts a copy of the template where a service with this data folder looks for its database.
 * @returns the settings to add, and the tokens of the three users
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
  // Not through a pooler, which would keep its connections: a database with connections cannot be copied.
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
  // The sign-ins above are not charged, so that each service begins with its whole quota.
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
