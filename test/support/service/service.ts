/** The whole service on a real port with a real database, a clock that tests move, and three people to be. */
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
  /** Moves the time on; nothing has to wait for it. */
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
  /** Parsed log lines so far. */
  log(): Record<string, unknown>[];
  /** Resolves when everything that is due after a commit has been done, by this service or one of its replicas. */
  settle(): Promise<void>;
  /** The mails that were sent so far, those of the same message id once; without SMTP_URL only. */
  mails(): Promise<Email[]>;
  /**
   * Another process's worth of the service on the same database. What one test has set otherwise is not to do the work
   * of the tests after it: it ends with the test.
   */
  replica(settings?: Readonly<Record<string, string>>): Promise<TestService>;
  stop(): Promise<void>;
}

/**
 * @param settings environment variables over the tests' defaults (a quota too large to be met by accident)
 * @param versions those that are published, when not those that are shipped
 */
export async function startTestService(
  kind: DatabaseKind,
  settings: Readonly<Record<string, string>> = {},
  versions?: Versions,
): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-test-'));
  // Where the settings name a database or a secret, the template's tokens would be of no user.
  const isOwn = settings.DATABASE_URL !== undefined || settings.JWT_SECRET !== undefined;
  const copy = isOwn ? undefined : await copyTemplate(kind, settings.DATA_DIR ?? folder);
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    RATE_LIMIT: '1000000',
    MAIL_LIMIT: '1000000',
    MAIL_LIMIT_UNCONFIRMED: '1000000',
    // Nothing listens there: no test asks the world outside.
    WEATHER_URL: 'http://127.0.0.1:9',
    GEOCODING_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: 'info',
    JWT_SECRET: serviceSecret,
    // Two transactions that write at once beside a group of them, and connections of each kind: with four there are no
    // groups, and ten cost PostgreSQL a sixth more.
    DATABASE_POOL: '6',
    // The setting that the run through a pooler gives the service: empty for none.
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
  /** Of the people in the database; without them it is empty. */
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
    // What a replica has taken up is not due any more, and not done yet.
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
      // Each line is read once: some tests look after every request.
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
