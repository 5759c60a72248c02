/** The whole service in one process: everything is made here, handed to what needs it, and closed again. */
import { version as release } from '../package.json';
import { createApp } from './app.ts';
import { type Config, loadConfig } from './config.ts';
import { createDispatcher } from './events/dispatcher.ts';
import { createOutbox } from './events/outbox.ts';
import { createQueue } from './events/queue.ts';
import { createRetention } from './events/retention.ts';
import type { Endpoint } from './http/endpoint.ts';
import { buildEntryLinks } from './http/hal/entry.ts';
import { createIdempotency } from './http/idempotency.ts';
import { openApiDocument } from './http/openapi/index.ts';
import { createPaginator } from './http/paginate.ts';
import type { Delays } from './http/quota/delays.ts';
import { createLimits } from './http/quota/factory.ts';
import { createStopControl } from './http/response/stopping.ts';
import { listen } from './listen.ts';
import { createMailLimits } from './mail/limits.ts';
import { createMailConsumer, createMails } from './mail/mails.ts';
import { createMediaEndpoints } from './media/endpoints.ts';
import { createMedia } from './media/index.ts';
import { createOperationEndpoints, type OperationsOptions } from './operations/endpoints.ts';
import { createLog, describeError, type Log } from './operations/log.ts';
import { createLoopDelay } from './operations/loop-delay.ts';
import { formatMetrics } from './operations/metrics.ts';
import { createObserver } from './operations/observe.ts';
import { createDocs, createStaticBody } from './operations/pages/docs.ts';
import type { Clock } from './ports/clock.ts';
import { createMailer } from './ports/mail.ts';
import type { Dependencies } from './resources/dependencies.ts';
import { createResources } from './resources/index.ts';
import { loadSecrets, type Secrets } from './secrets/index.ts';
import { createSeal } from './secrets/seal.ts';
import type { Database } from './storage/database.ts';
import { openSqlite } from './storage/sqlite/index.ts';
import { removeInParts } from './storage/table-rows.ts';
import { runOnce } from './turns/slices.ts';
import {
  addEntries,
  addSuccessors,
  buildPublishedVersions,
  type PublishedVersion,
  type Versions,
} from './versions.ts';

const drainPollMs = 10;
const sweepEveryMs = 10 * 60 * 1000;

export interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly database: Database;
  /**
   * Fulfilled when everything is made that has to be there from the start, such as the first administrator: until then the
   * service is not ready, and requests wait but for those of operators. Undefined: there is nothing to make.
   */
  readonly starting?: Promise<void>;
  /** Those of versions.ts unless given. */
  readonly versions?: Versions | undefined;
}

export interface Service {
  /** Where it listens, as in `http://127.0.0.1:3000`. */
  readonly address: string;
  /** Resolves when everything that is due after a commit has been done: mail sent, people notified. */
  settle(): Promise<void>;
  /**
   * Serves for `delay` seconds more, asking clients to close their connections, then takes no new ones, finishes
   * the requests in flight (STOP_TIMEOUT at most), and releases everything but the database.
   * @param hurry ends the delay early
   */
  stop(delay?: number, hurry?: Promise<unknown>): Promise<void>;
}

/** What resources are given, and what the service itself needs of its parts. */
function compose(
  { config, clock, log, database }: ServiceOptions,
  secrets: Secrets,
  delays: Delays,
  port: () => number,
) {
  const queue = createQueue(database);
  const seal = createSeal(secrets, 'mail');
  const limits = createMailLimits(database, config);
  const dependencies: Dependencies = {
    config,
    clock,
    database,
    paginator: createPaginator(secrets[0]),
    outbox: createOutbox(database, queue),
    mails: createMails(queue, seal, limits, log),
    delays,
    log,
    queue,
    media: createMedia(config, clock, log),
    port,
  };
  return { queue, seal, limits, dependencies };
}

export function startService(options: ServiceOptions): Service {
  const { config, clock, log, database } = options;
  const secrets = loadSecrets(config);
  const { createQuota, delays } = createLimits(
    clock,
    config.DATABASE_URL === undefined ? undefined : database,
  );
  const quota = createQuota('requests', config.RATE_LIMIT, config.RATE_WINDOW, { failsOpen: true });
  const observer = createObserver(log, clock);
  const idempotency = createIdempotency(database, clock, secrets);
  const { queue, seal, limits, dependencies } = compose(
    options,
    secrets,
    delays,
    () => server.port ?? config.PORT,
  );
  const resources = createResources(dependencies, secrets, createQuota);
  const mailer = createMailer(config);
  const consumers = [...resources.consumers, createMailConsumer(mailer, seal, resources.mailSent)];
  const dispatcher = createDispatcher({ database, clock, log, consumers });
  const retention = createRetention(database, clock, config.EVENTS_RETENTION_DAYS);
  const stopping = createStopControl();
  const loop = createLoopDelay();
  const published = (options.versions ?? buildPublishedVersions)(config, resources.endpoints);
  const versions = addEntries(addSuccessors(published, config.BASE_URL));
  const renditions = createQuota('sizes of images', config.RATE_LIMIT, config.RATE_WINDOW, {
    failsOpen: true,
  });
  const { media } = dependencies;
  const numbers = { observer, database, quota, release, loop, media, queues: dispatcher, clock };
  let { starting } = options;
  void starting?.then(() => {
    starting = undefined;
  });
  const operations = createOperations(versions, createMediaEndpoints(media, renditions), config.BASE_URL, {
    database,
    metrics: () => formatMetrics({ ...numbers, pending: server.pendingRequests }),
    metricsToken: config.METRICS_TOKEN,
    isStopping: stopping.hasBegun,
    isStarted: () => starting === undefined,
  });
  const app = createApp({
    config,
    clock,
    database,
    starting: () => starting,
    stopping,
    quota,
    idempotency,
    observer,
    versions,
    committed(session) {
      if (queue.hasAdded(session)) dispatcher.wake();
    },
    authenticator: resources.authenticator,
    operations,
  });
  const server = listen(app, config);
  const sweeper = setInterval(() => void sweep(), sweepEveryMs);
  // Without the database nothing is known of the images; its own lines say so.
  void hasImages(database).then(media.open, () => undefined);

  /**
   * Forgets what has expired: what the resources name, failed attempts, recipients of mail, idempotent responses, quota
   * windows and, if so set, events. What fails keeps no other from it.
   */
  async function sweep(): Promise<void> {
    const steps: Readonly<Record<string, () => Promise<number>>> = {
      ...resources.sweeps,
      attempts: () => delays.sweep(),
      recipients: () => database.write(session => limits.sweep(session, clock.now())),
      responses: () => idempotency.sweep(),
      counters: () => quota.sweep(),
      events: () => retention.events(stopping.hasBegun),
      deliveries: () => retention.deliveries(stopping.hasBegun),
    };
    const swept: Record<string, unknown> = {};
    for (const [what, step] of Object.entries(steps)) {
      try {
        swept[what] = await removeInParts(step, stopping.hasBegun);
      } catch (error) {
        log.warn('removing expired rows failed', { what, ...describeError(error) });
      }
    }
    log.debug('swept', swept);
  }

  return {
    address: `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${server.port}`,
    async settle() {
      await resources.written();
      await dispatcher.settle();
    },
    async stop(delay = 0, hurry) {
      stopping.begin();
      clearInterval(sweeper);
      // Load balancers see that /ready is 503; clients close their connections, so that few are idle below.
      if (delay > 0) await Promise.race([Bun.sleep(delay * 1000), ...(hurry === undefined ? [] : [hurry])]);
      if (delay > 0) await stopping.hold();
      // Takes no new connections and closes idle ones; its promise would wait for those of slow clients too.
      void server.stop();
      stopping.release();
      const deadline = performance.now() + config.STOP_TIMEOUT * 1000;
      while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(drainPollMs);
      if (server.pendingRequests > 0) {
        log.warn('stop: requests in flight did not finish in time', { pending: server.pendingRequests });
      }
      await server.stop(true);
      await dispatcher.stop(Math.max(0, deadline - performance.now()));
      await resources.written();
      mailer.close();
      loop.stop();
    },
  };
}

async function hasImages({ read, build }: Database): Promise<boolean> {
  const query = build.selectFrom('media').select('hash').limit(1);
  return (await read.first(query.compile())) !== undefined;
}

/** The current version's description (openapi.json), made without serving: nothing is read from settings or disk. */
export async function createDocument(): Promise<Record<string, unknown>> {
  const config = loadConfig({});
  const clock = { now: () => 0 };
  const database = openSqlite(':memory:');
  const { createQuota, delays } = createLimits(clock);
  const log = createLog('silent', () => undefined, clock.now);
  const secrets: Secrets = ['signs nothing: no endpoint is run here'];
  const { dependencies } = compose({ config, clock, log, database }, secrets, delays, () => config.PORT);
  const resources = createResources(dependencies, secrets, createQuota).endpoints;
  const versions = addEntries(buildPublishedVersions(config, resources));
  const operations = createOperations(
    versions,
    createMediaEndpoints(dependencies.media, createQuota('', 1, 1)),
    undefined,
    {
      database,
      metrics: async () => '',
      metricsToken: undefined,
      isStopping: () => false,
      isStarted: () => true,
    },
  );
  await database.close();
  const current = versions.at(-1);
  if (current === undefined) throw new Error('no version is published');
  return buildDocument(current, operations);
}

/** The endpoints beside the versions, which show the documents of these and of themselves. */
function createOperations(
  versions: readonly PublishedVersion[],
  images: readonly Endpoint[],
  base: string | undefined,
  options: Omit<OperationsOptions, 'release' | 'versions' | 'docs'>,
): Endpoint[] {
  const described = versions.map(version => ({
    name: version.name,
    links: (root: string) => buildEntryLinks(version, root),
    document: runOnce(async () =>
      createStaticBody(JSON.stringify(await buildDocument(version, operations, base))),
    ),
  }));
  const own = createOperationEndpoints({ ...options, release, versions: described, docs: createDocs() });
  const operations = [...images, ...own];
  return operations;
}

function buildDocument(
  version: PublishedVersion,
  operations: readonly Endpoint[],
  base?: string,
): Promise<Record<string, unknown>> {
  return openApiDocument({ resources: version.endpoints, operations, version, base });
}
