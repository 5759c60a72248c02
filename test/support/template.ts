/**
 * A database as every service under test begins with: its tables, three people, and their sign-ins. It is made once
 * in each process and copied, because migrating costs far more than copying.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/operations/log.ts';
import { startService } from '../../src/service.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { embeddedFile, openDatabase } from '../../src/storage/open.ts';
import { copyDatabase, createDatabase } from './postgres.ts';
import { addUsers, signInAll, type Tokens } from './sign-in.ts';

export type DatabaseKind = 'sqlite' | 'postgresql';

/** When the clock of every service under test begins. */
export const beginning = Date.UTC(2026, 0, 15, 9, 30);

/** JWT_SECRET of every service under test. */
export const serviceSecret = 'a secret for tests that is long enough for HS256';

interface Template {
  /** Of the three people; good for every copy whose service signs with `serviceSecret`. */
  readonly tokens: Tokens;
  /** Of the embedded database; its file is alone in it. */
  readonly folder: string;
  readonly url: string | undefined;
}

const templates = new Map<DatabaseKind, Promise<Template>>();

function templateOf(kind: DatabaseKind): Promise<Template> {
  const known = templates.get(kind);
  if (known !== undefined) return known;
  const made = createTemplate(kind);
  templates.set(kind, made);
  return made;
}

/**
 * Puts a copy of the template where a service with these settings looks for its database.
 * @returns what has to be added to the settings, and the tokens of the three people
 */
export async function copyTemplate(
  kind: DatabaseKind,
  dataFolder: string,
): Promise<{ readonly settings: Readonly<Record<string, string>>; readonly tokens: Tokens }> {
  const { folder, url, tokens } = await templateOf(kind);
  if (url !== undefined) return { settings: { DATABASE_URL: await copyDatabase(url) }, tokens };
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  copyFileSync(embeddedFile({ DATA_DIR: folder }), embeddedFile({ DATA_DIR: dataFolder }));
  return { settings: {}, tokens };
}

async function createTemplate(kind: DatabaseKind): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-template-'));
  const url = kind === 'postgresql' ? await createDatabase() : undefined;
  const config = loadConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    JWT_SECRET: serviceSecret,
    ...(url === undefined ? {} : { DATABASE_URL: url }),
  });
  const clock = { now: () => beginning };
  const database = openDatabase(config);
  await migrate(database, clock.now);
  await addUsers(database, beginning);
  const log = createLog(config.LOG_LEVEL, () => undefined, clock.now);
  const service = startService({ config, clock, log, database });
  const tokens = await signInAll(service.address);
  await service.settle();
  await service.stop();
  // What the sign-ins were charged is nobody's: each service begins with its whole quota.
  await database.write(session => session.run(database.build.deleteFrom('quotas').compile()));
  await database.close();
  return { folder, url, tokens };
}

/** Removes the templates' files. */
export async function removeTemplates(): Promise<void> {
  for (const made of templates.values()) rmSync((await made).folder, { recursive: true, force: true });
  templates.clear();
}
