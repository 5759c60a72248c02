/** The whole service on a real port with a real database, a clock that tests move, and three people to be. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { causedBy, outboxOf } from '../../src/events/outbox.ts';
import type { Role } from '../../src/http/access.ts';
import { createLog } from '../../src/operations/log.ts';
import { hashPassword } from '../../src/resources/auth/passwords.ts';
import { userStore } from '../../src/resources/users/store.ts';
import { type Service, startService } from '../../src/service.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { openDatabase } from '../../src/storage/open.ts';
import type { Versions } from '../../src/versions.ts';
import { type Email, mailsIn } from './mails.ts';
import { createDatabase } from './postgres.ts';

export type DatabaseKind = 'sqlite' | 'postgresql';
/** Every scenario runs on each of these. */
export const databaseKinds: readonly DatabaseKind[] = ['sqlite', 'postgresql'];

/** JWT_SECRET of every service under test. */
export const serviceSecret = 'a secret for tests that is long enough for HS256';
export const password = 'correct horse battery';
const passwordHash = hashPassword(password);

export interface TestClock {
  now(): number;
  /** Moves the time on; nothing has to wait for it. */
  advance(milliseconds: number): void;
}

export interface TestService {
  readonly kind: DatabaseKind;
  /** Without a slash at its end. */
  readonly url: string;
  readonly clock: TestClock;
  readonly database: Database;
  /** Access tokens of a user of each role. */
  readonly tokens: Readonly<Record<Role, string>>;
  /** Parsed log lines so far. */
  log(): Record<string, unknown>[];
  /** Resolves when everything that is due after a commit has been done. */
  settle(): Promise<void>;
  /** The mails that were sent so far, those of the same message id once; without SMTP_URL only. */
  mails(): Promise<Email[]>;
  /** Another process's worth of the service on the same database. */
  replica(settings?: Readonly<Record<string, string>>): Promise<TestService>;
  stop(): Promise<void>;
}

/** Signs in over HTTP. */
export async function signIn(url: string, email: string, secret = password): Promise<string> {
  const response = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: secret }),
  });
  if (response.status !== 200)
    throw new Error(`sign-in answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { accessToken: string }).accessToken;
}

export const emailOf = (role: Role) => `${role}@test.example`;

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
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    RATE_LIMIT: '1000000',
    // Nothing listens there: no test asks the world outside.
    WEATHER_URL: 'http://127.0.0.1:9',
    GEOCODING_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: 'info',
    JWT_SECRET: serviceSecret,
    ...(kind === 'postgresql' && settings.DATABASE_URL === undefined
      ? { DATABASE_URL: await createDatabase() }
      : {}),
    ...settings,
  };
  let time = Date.UTC(2026, 0, 15, 9, 30);
  const clock = {
    now: () => time,
    advance(milliseconds: number) {
      time += milliseconds;
    },
  };
  const started = await start(kind, environment, clock, undefined, versions);
  return {
    ...started,
    async stop() {
      await started.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(
  kind: DatabaseKind,
  environment: Readonly<Record<string, string>>,
  clock: TestClock,
  /** Those of the first replica; without them this is the first. */
  known: TestService['tokens'] | undefined,
  versions: Versions | undefined,
): Promise<TestService> {
  const config = loadConfig(environment);
  let written = '';
  const collect = (text: string) => {
    written += text;
  };
  const log = createLog(config.LOG_LEVEL, collect, clock.now);
  const database = openDatabase(config);
  if (known === undefined) {
    await migrate(database, clock.now);
    await addUsers(database, clock);
  }
  const service: Service = startService({ config, clock, log, database, versions });
  const url = service.address;
  const tokens = known ?? {
    admin: await signIn(url, emailOf('admin')),
    editor: await signIn(url, emailOf('editor')),
    user: await signIn(url, emailOf('user')),
  };
  const replicas: TestService[] = [];
  let ended: Promise<void> | undefined;
  return {
    kind,
    url,
    clock,
    database,
    tokens,
    settle: service.settle,
    async mails() {
      await service.settle();
      return mailsIn(join(config.DATA_DIR, 'outbox'));
    },
    log() {
      log.flush();
      return written
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line));
    },
    async replica(settings = {}) {
      const replica = await start(kind, { ...environment, ...settings }, clock, tokens, versions);
      replicas.push(replica);
      return replica;
    },
    stop() {
      ended ??= (async () => {
        for (const replica of replicas) await replica.stop();
        await service.stop();
        await database.close();
      })();
      return ended;
    },
  };
}

async function addUsers(database: Database, clock: TestClock): Promise<void> {
  const users = userStore(database, outboxOf(database));
  const hash = await passwordHash;
  await database.write(async session => {
    for (const role of ['admin', 'editor', 'user'] as const) {
      const user = {
        name: `Test ${role}`,
        email: emailOf(role),
        role,
        passwordHash: hash,
        verifiedAt: clock.now(),
      };
      await users.insert(session, user, causedBy('tests', clock.now()));
    }
  });
}
