/** The whole service on a real port with a real database, a clock that tests advance, and three users to act as. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/operations/log.ts';
import { type Service, startService } from '../../../src/service.ts';
import type { Database } from '../../../src/storage/database.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import type { Versions } from '../../../src/versions.ts';
import { addUsers, signInAll, type Tokens } from '../data/sign-in.ts';
import { type Email, mailsIn } from '../peers/mails.ts';
import { createDatabase } from './postgres.ts';
import { beginning, copyTemplate, type DatabaseKind, serviceSecret } from './template.ts';

export { emailOf, password, signIn } from '../data/sign-in.ts';
export { type DatabaseKind, serviceSecret } from './template.ts';

/** Every scenario runs on each of these. */
export const databaseKinds: readonly DatabaseKind[] = ['sqlite', 'postgresql'];

interface TestClock {
  now(): number;
  /** Advances the time, without waiting. */
  advance(milliseconds: number): void;
}

/** `await using` stops it at the end of the block. */
export interface TestService extends AsyncDisposable {
  readonly kind: DatabaseKind;
  /** Without a slash at its end. */
  readonly url: string;
  readonly clock: TestClock;
  readonly database: Database;
  /** Access tokens of a user of each role. */
  readonly tokens: Tokens;
  /** The log lines so far, parsed. */
  log(): Record<string, unknown>[];
  /** Resolves when this service and its replicas have completed the work that is due after commits. */
  settle(): Promise<void>;
  /** The mails sent so far, once for each message id; only without SMTP_URL. */
  mails(): Promise<Email[]>;
  /**
   * Starts another instance of the service on the same database. It must end with the test, because with its settings
   * it must not do the work of later tests.
   */
  replica(settings?: Readonly<Record<string, string>>): Promise<TestService>;
  stop(): Promise<void>;
}

/**
 * @param settings environment variables that override the tests' defaults (a quota too large to exceed by accident)
 * @param versions the published versions, by default those that are shipped
 */
export async function startTestService(
  kind: DatabaseKind,
  settings: Readonly<Record<string, string>> = {},
  versions?: Versions,
): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-test-'));
  // With a database or a secret from the settings, the template's tokens would not be valid.
  const isOwn = settings.DATABASE_URL !== undefined || settings.JWT_SECRET !== undefined;
  const copy = isOwn ? undefined : await copyTemplate(kind, settings.DATA_DIR ?? folder);
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    RATE_LIMIT: '1000000',
    MAIL_LIMIT: '1000000',
    MAIL_LIMIT_UNCONFIRMED: '1000000',
    // Nothing listens there: tests send no requests to the outside.
    WEATHER_URL: 'http://127.0.0.1:9',
    GEOCODING_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: 'info',
    JWT_SECRET: serviceSecret,
    // Enough for two concurrent writing transactions beside a group of them, and for connections of each kind. With
    // four there are no groups, and ten cost PostgreSQL a sixth more.
    DATABASE_POOL: '6',
    // A busy machine may take longer than the default of 3 seconds for a transaction.
    DATABASE_LOCK_TIMEOUT: '20',
    // Set by the test run through a pooler; otherwise empty.
    DATABASE_POOLER: process.env.TEST_POOLER_SETTING ?? '',
    ...(kind === 'postgresql' && isOwn && settings.DATABASE_URL === undefined
      ? { DATABASE_URL: await createDatabase() }
      : copy?.settings),
    ...settings,
  };
  let time = beginning;
  const clock = {
    now: () => time,
    advance(milliseconds: number) {
      time += milliseconds;
    },
  };
  const started = await start(kind, environment, clock, copy?.tokens, versions);
  const stop = async () => {
    await started.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...started, stop, [Symbol.asyncDispose]: stop };
}

async function start(
  kind: DatabaseKind,
  environment: Readonly<Record<string, string>>,
  clock: TestClock,
  /** The tokens of the users in the database; undefined when it is empty. */
  known: Tokens | undefined,
  versions: Versions | undefined,
): Promise<TestService> {
  const config = loadConfig(environment);
  const lines: Record<string, unknown>[] = [];
  let written = '';
  const collect = (text: string) => {
    written += text;
  };
  const log = createLog(config.LOG_LEVEL, collect, clock.now);
  const database = openDatabase(config);
  if (known === undefined) {
    await migrate(database, clock.now);
    await addUsers(database, clock.now());
  }
  const service: Service = startService({ config, clock, log, database, versions });
  const url = service.address;
  const tokens = known ?? (await signInAll(url));
  const replicas: TestService[] = [];
  const parsed = new Map<string, Email>();
  let ended: Promise<void> | undefined;
  async function settle(): Promise<void> {
    // Work that a replica has claimed is no longer due, but not done yet.
    await Promise.all([service.settle(), ...replicas.map(replica => replica.settle())]);
  }
  function stop(): Promise<void> {
    ended ??= (async () => {
      for (const replica of replicas) await replica.stop();
      await service.stop();
      await database.close();
    })();
    return ended;
  }
  return {
    kind,
    url,
    clock,
    database,
    tokens,
    settle,
    async mails() {
      await settle();
      return mailsIn(join(config.DATA_DIR, 'outbox'), parsed);
    },
    log() {
      log.flush();
      // Each line is parsed only once: some tests read the log after every request.
      for (const line of written.split('\n')) if (line !== '') lines.push(JSON.parse(line));
      written = '';
      return [...lines];
    },
    async replica(settings = {}) {
      const replica = await start(kind, { ...environment, ...settings }, clock, tokens, versions);
      replicas.push(replica);
      return replica;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
