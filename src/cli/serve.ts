/** `catalog serve`: starts the service, and shuts it down on a signal. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import { createCause, createCommandOutbox } from '../events/outbox.ts';
import { createLog, createStandardOutput, describeError, type Log } from '../operations/log.ts';
import { systemClock } from '../ports/clock.ts';
import { hashPassword } from '../resources/auth/passwords.ts';
import { replaceProduct } from '../resources/products/schema.ts';
import { createProductStore } from '../resources/products/store.ts';
import { createUserStore } from '../resources/users/store.ts';
import { tightenPermissions } from '../secrets/private-files.ts';
import { startService } from '../service.ts';
import { findDoubtfulSettings } from '../settings/doubtful.ts';
import { findMistypedSettings } from '../settings/mistyped.ts';
import type { Database } from '../storage/database.ts';
import { checkDataFolder, findMissingRights, getEmbeddedFile, openDatabase } from '../storage/open.ts';
import { createProductTotals } from '../storage/totals.ts';
import { checkAfterUncleanEnd, hasEndedUncleanly } from './check/unclean-end.ts';
import { migrateAtStart } from './database.ts';
import { listenForStop } from './launcher.ts';
import { writeLines } from './terminal/index.ts';
import { type Command, parse, parseCountOption } from './usage.ts';

export const command: Command = {
  help: `Usage: catalog serve [--sample] [--port PORT]

Migrates the database (waiting up to 30 seconds for PostgreSQL), listens, creates the first administrator if there
are no users, and serves until it is stopped (SIGTERM or Ctrl-C); requests in flight are finished first.

  --sample     fills an embedded database without users and products with a sample catalog, as npm start does;
               ignored with DATABASE_URL
  --port PORT  the port to listen on, instead of the setting PORT

catalog --help lists the settings.

Exit status: 0 stopped; 1 the service could not start, or the database could not be closed; 2 the command line is wrong;
78 a setting is not valid.`,

  async run(args) {
    const { values } = parse(args, { sample: { type: 'boolean' }, port: { type: 'string' } });
    const port = parseCountOption(values.port, '--port', 0, 65_535);
    const config = loadConfig({ ...process.env, ...(port === undefined ? {} : { PORT: String(port) }) });
    const clock = systemClock;
    const output = createStandardOutput();
    const log = createLog(config.LOG_LEVEL, output.write, clock.now);
    if (config.DATABASE_URL === undefined) checkDataFolder(config);
    makePrivate(config, log);
    const unclean = hasEndedUncleanly(config);
    const database = openDatabase(config, { onMoved: inPlace => reportPlace(inPlace, config, log) });
    let isChecking = false;
    try {
      const { ran, rest, built } = await migrateAtStart(database, config, migration =>
        log.info('migrating', { migration }),
      );
      // Listens first: if the port is taken, no samples or administrator are created, and no new password is lost.
      const starting = Promise.withResolvers<void>();
      const service = startService({ config, clock, log, database, starting: starting.promise });
      const embedded = config.DATABASE_URL === undefined;
      const samples = values.sample === true && embedded ? await addSamples(database, config) : 0;
      if (values.sample === true && !embedded)
        log.info(
          '--sample is ignored: the sample catalog is only for an embedded database, not for DATABASE_URL',
        );
      const administrator = await ensureAdministrator(database, config, clock.now(), log);
      starting.resolve();
      // Before anything can know that the service runs: a signal without a listener ends the process at once.
      const signals = listenForStop();
      surviveFailures(log);
      warnOfSettings(log);
      await reportMissingRights(database, log);
      warnOfPayments(config, log);
      reportWhereImagesAre(config, log);
      const greeting = composeGreeting(service.address, embedded, administrator, samples);
      void writeLines(process.stderr, greeting).catch(() => warnOfUnshownPassword(administrator, log));
      log.info('serving', { address: service.address, database: database.dialect.name, migrated: ran });
      if (built > 0) log.info('built the indexes that an import had left out', { indexes: built });
      if (rest !== undefined) log.warn(rest);
      isChecking = unclean;
      if (unclean)
        void checkAfterUncleanEnd(config, log).then(() => {
          isChecking = false;
        });
      // A service that is stopped with Ctrl-C has no load balancer in front of it; a second signal ends the delay.
      const delay = (await signals.first) === 'SIGTERM' ? config.STOP_DELAY : 0;
      log.info('stopping', { delaySeconds: delay });
      await service.stop(delay, signals.second);
    } finally {
      // The check takes minutes for a large database. Its thread ends with the process.
      if (isChecking)
        log.warn('the service stopped before the database check was finished: run catalog check');
      await database.close();
      log.flush();
      await output.finish();
    }
    return 0;
  },
};

/** Logs failures of work that no request waits for. Without a listener they would end the process. */
function surviveFailures(log: Log): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, error => {
      try {
        log.error('unexpected failure; the service keeps running', describeError(error));
      } catch {
        // The thrown value may not convert to text. An error thrown in here would end the process.
      }
    });
}

function warnOfSettings(log: Log): void {
  for (const { given, setting } of findMistypedSettings(process.env))
    log.warn(`the variable ${given} is ignored, since no setting has this name; ${setting} has`);
  for (const doubt of findDoubtfulSettings(process.env)) log.warn(doubt);
}

/** A role may lack rights on what a new release has added. `/ready` needs none of them. */
async function reportMissingRights(database: Database, log: Log): Promise<void> {
  const rights = await findMissingRights(database);
  if (rights.length > 0)
    log.error(
      'the role of DATABASE_URL lacks rights, and requests that need them fail: grant those that docs/operation.md names',
      { count: rights.length, lacks: rights.slice(0, maxShown) },
    );
}

/** With PostgreSQL, services on several machines may share the database, but not a local folder of images. */
function reportWhereImagesAre({ DATABASE_URL, MEDIA_URL, DATA_DIR }: Config, log: Log): void {
  if (DATABASE_URL === undefined || MEDIA_URL !== undefined) return;
  const folder = join(DATA_DIR, 'media');
  log.info('images are stored in a folder on this machine; to serve from several machines, set MEDIA_URL', {
    folder,
  });
}

/** A service on PostgreSQL is probably a real shop: a customer who marks an order as paid would get goods for free. */
function warnOfPayments({ DATABASE_URL, STRIPE_SECRET_KEY, PAYMENT_BY_HAND }: Config, log: Log): void {
  if (DATABASE_URL === undefined || STRIPE_SECRET_KEY !== undefined || PAYMENT_BY_HAND === 'staff') return;
  log.warn(
    'customers may record the payment of their own orders; set STRIPE_SECRET_KEY, or PAYMENT_BY_HAND=staff for staff to record payments',
  );
}

/** Anything written to a database file that was removed or replaced would be lost. */
function reportPlace(inPlace: boolean, config: Config, log: Log): void {
  const fields = { file: getEmbeddedFile(config) };
  if (inPlace) log.warn('the database file is back: writes are accepted again', fields);
  else
    log.error(
      'the database file was removed or replaced while the service was running: writes are refused; move it back, or stop the service, restore a backup and start again',
      fields,
    );
}

/** Makes the files of DATA_DIR private, and logs which ones other users could read, and which they still can. */
function makePrivate({ DATA_DIR }: Config, log: Log): void {
  const { tightened, open } = tightenPermissions(DATA_DIR);
  if (tightened.length > 0)
    log.warn('these files and folders were readable by other users; their permissions have been restricted', {
      count: tightened.length,
      paths: tightened.slice(0, maxShown),
    });
  if (open.length > 0)
    log.warn(
      'these files and folders are readable by other users; restrict their permissions with chmod go-rwx',
      {
        paths: open.slice(0, maxShown),
      },
    );
}

/** A log line names at most this many files, or tables. */
const maxShown = 10;

interface Administrator {
  readonly email: string;
  /** Defined only if it was generated here: then it is shown, once. */
  readonly password: string | undefined;
}

/** Creates the first administrator when there is no user. @returns undefined if none was created */
async function ensureAdministrator(
  database: Database,
  config: Config,
  now: number,
  log: Log,
): Promise<Administrator | undefined> {
  const users = createUserStore(database, createCommandOutbox(database));
  const { ADMIN_EMAIL, ADMIN_PASSWORD, DATABASE_URL } = config;
  if ((await users.count(database.read)) > 0) {
    if (ADMIN_EMAIL !== undefined)
      log.info('ADMIN_EMAIL and ADMIN_PASSWORD are ignored: users already exist');
    return undefined;
  }
  if (ADMIN_EMAIL === undefined && DATABASE_URL !== undefined) {
    console.error(
      'catalog: there are no users yet: set ADMIN_EMAIL and ADMIN_PASSWORD, or run catalog users create',
    );
    return undefined;
  }
  const password = ADMIN_PASSWORD ?? randomBytes(12).toString('base64url');
  const email = ADMIN_EMAIL ?? 'admin@catalog.example';
  const passwordHash = await hashPassword(password);
  const made = await database.write(
    async session => {
      // If several replicas start at once, only one creates the administrator.
      if ((await users.count(session)) > 0) return false;
      await users.insert(
        session,
        { name: 'Administrator', email, role: 'admin', passwordHash, verifiedAt: now },
        createCause('cli', now),
      );
      return true;
    },
    { lock: 'first administrator', waitForLock: true },
  );
  return made ? { email, password: ADMIN_PASSWORD === undefined ? password : undefined } : undefined;
}

/** Adds the sample products to a catalog without users and products. @returns how many were added */
async function addSamples(database: Database, config: Config): Promise<number> {
  const users = await createUserStore(database, createCommandOutbox(database)).count(database.read);
  const products = await createProductTotals(database).count(database.read);
  if (users > 0 || products > 0) return 0;
  const { sampleProducts } = await import('../sample/products.ts');
  const store = createProductStore(database, createCommandOutbox(database));
  const cause = createCause('samples', Date.now());
  await database.write(async session => {
    for (const sample of sampleProducts)
      await store.insert(
        session,
        replaceProduct.parse({ ...sample, currency: config.DEFAULT_CURRENCY }),
        cause,
      );
  });
  return sampleProducts.length;
}

/** A greeting for a person at a terminal: where the service is, how to sign in, and a command to paste. */
function composeGreeting(
  address: string,
  embedded: boolean,
  administrator: Administrator | undefined,
  samples: number,
): string[] {
  const local = address.replace('0.0.0.0', '127.0.0.1').replace('[::]', '[::1]');
  const lines = ['', `  Catalog is ready at ${local}  (docs: ${local}/docs)`, ''];
  if (samples > 0) lines.push(`  A sample catalog of ${samples} products is in the database.`, '');
  if (administrator?.password !== undefined) {
    const { email, password } = administrator;
    lines.push(
      '  First administrator (this password is not shown again):',
      `    e-mail    ${email}`,
      `    password  ${password}`,
      '',
      '  Sign in and list products:',
      `    TOKEN=$(curl -sSf ${local}/v1/auth/login -H 'Content-Type: application/json' -d '{"email":"${email}","password":"${password}"}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
      `    curl -s "${local}/v1/products?perPage=3" -H "Authorization: Bearer $TOKEN"`,
      '',
    );
  } else if (embedded) {
    lines.push(`    curl -s ${local}/health`, '');
  }
  return lines;
}

/** For standard error on a full disk, or without a reader. The log must not have the password. */
function warnOfUnshownPassword(administrator: Administrator | undefined, log: Log): void {
  if (administrator?.password === undefined) return;
  log.warn(
    `the password of the first administrator could not be shown; set another with catalog users set-password ${administrator.email}`,
  );
}
