/** `catalog serve`: from nothing to a running service, and back when it is told to stop. */
import { randomBytes } from 'node:crypto';
import { type Config, loadConfig } from '../config.ts';
import { causedBy, outboxOf } from '../events/outbox.ts';
import { createLog, standardOutput } from '../operations/log.ts';
import { systemClock } from '../ports/clock.ts';
import { hashPassword } from '../resources/auth/passwords.ts';
import { replaceProduct } from '../resources/products/schema.ts';
import { productStore } from '../resources/products/store.ts';
import { userStore } from '../resources/users/store.ts';
import { startService } from '../service.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import { openDatabase } from '../storage/open.ts';
import { restoreIndexesOf } from './database.ts';
import { type Command, parse } from './usage.ts';

export const serveCommand: Command = {
  help: `Usage: catalog serve [--sample] [--port PORT]

Migrates the database, makes the first administrator when there is no user, and serves until it is told to
stop (SIGTERM or Ctrl-C); requests in flight are finished first.

  --sample     fill a brand-new embedded database with a sample catalog (npm start does); ignored with DATABASE_URL
  --port PORT  the port to listen on, instead of the setting PORT

catalog --help lists the settings.`,

  async run(args) {
    const { values } = parse(args, { sample: { type: 'boolean' }, port: { type: 'string' } });
    const config = loadConfig(
      values.port === undefined ? process.env : { ...process.env, PORT: values.port },
    );
    const clock = systemClock;
    const output = standardOutput();
    const log = createLog(config.LOG_LEVEL, output.write, clock.now);
    restoreIndexesOf(config);
    const database = openDatabase(config);
    try {
      const ran = await migrate(database, clock.now);
      const administrator = await ensureAdministrator(database, config, clock.now());
      const embedded = config.DATABASE_URL === undefined;
      // Brand-new: its first migrations ran just now, so nothing that anyone made can be in it.
      const samples =
        values.sample === true && embedded && ran.length > 0 ? await addSamples(database, config) : 0;
      const service = startService({ config, clock, log, database });
      greet(service.address, embedded, administrator, samples);
      log.info('serving', { address: service.address, database: database.dialect.name, migrated: ran });
      await stopSignal();
      log.info('stopping');
      await service.stop();
    } finally {
      await database.close();
      log.flush();
      await output.finish();
    }
    return 0;
  },
};

interface Administrator {
  readonly email: string;
  /** Only when it was made up here: then it is shown, once. */
  readonly password: string | undefined;
}

/** Makes the first administrator when there is no user; tells who it is. */
async function ensureAdministrator(
  database: Database,
  config: Config,
  now: number,
): Promise<Administrator | undefined> {
  const users = userStore(database, outboxOf(database));
  if ((await users.count(database.read)) > 0) return undefined;
  const { ADMIN_EMAIL, ADMIN_PASSWORD, DATABASE_URL } = config;
  if (ADMIN_EMAIL === undefined && DATABASE_URL !== undefined) {
    console.error(
      'catalog: there is no user yet: set ADMIN_EMAIL and ADMIN_PASSWORD, or run catalog users create',
    );
    return undefined;
  }
  const password = ADMIN_PASSWORD ?? randomBytes(12).toString('base64url');
  const email = ADMIN_EMAIL ?? 'admin@catalog.example';
  const passwordHash = await hashPassword(password);
  const made = await database.write(
    async session => {
      // Of several replicas that start at once, one makes the administrator.
      if ((await users.count(session)) > 0) return false;
      await users.insert(
        session,
        { name: 'Administrator', email, role: 'admin', passwordHash, verifiedAt: now },
        causedBy('cli', now),
      );
      return true;
    },
    { lock: 'first administrator' },
  );
  return made ? { email, password: ADMIN_PASSWORD === undefined ? password : undefined } : undefined;
}

async function addSamples(database: Database, config: Config): Promise<number> {
  const { sampleProducts } = await import('../sample/products.ts');
  const store = productStore(database, outboxOf(database));
  const cause = causedBy('samples', Date.now());
  await database.write(async session => {
    for (const sample of sampleProducts) {
      await store.insert(
        session,
        replaceProduct.parse({ ...sample, currency: config.DEFAULT_CURRENCY }),
        cause,
      );
    }
  });
  return sampleProducts.length;
}

/** For a person at a terminal: what runs, how to sign in, and a line to paste. */
function greet(
  address: string,
  embedded: boolean,
  administrator: Administrator | undefined,
  samples: number,
): void {
  const local = address.replace('0.0.0.0', '127.0.0.1');
  const lines = ['', `  Catalog is ready at ${local}  (docs: ${local}/docs)`, ''];
  if (samples > 0) lines.push(`  A sample catalog of ${samples} products is in the database.`, '');
  if (administrator?.password !== undefined) {
    const { email, password } = administrator;
    lines.push(
      '  The first administrator; the password is shown this once:',
      `    e-mail    ${email}`,
      `    password  ${password}`,
      '',
      '  Sign in and list products:',
      `    TOKEN=$(curl -s ${local}/v1/auth/login -H 'Content-Type: application/json' -d '{"email":"${email}","password":"${password}"}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
      `    curl -s "${local}/v1/products?perPage=3" -H "Authorization: Bearer $TOKEN"`,
      '',
    );
  } else if (embedded) {
    lines.push(`    curl -s ${local}/health`, '');
  }
  console.error(lines.join('\n'));
}

function stopSignal(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}
