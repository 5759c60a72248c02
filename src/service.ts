/** The whole service in one process: creates every part, passes it to the parts that need it, and closes it. */
import { version as release } from '../package.json';
import { createApp } from './app.ts';
import { type Config, loadConfig } from './config.ts';
import { createDispatcher } from './events/dispatcher.ts';
import { createOutbox } from './events/outbox.ts';
import { createQueue } from './events/queue.ts';
import { createRetention } from './events/retention.ts';
import { createHastener } from './events/set-back.ts';
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
import { type Clock, createJumpMeter } from './ports/clock.ts';
import { createMailer } from './ports/mail.ts';
import type { Dependencies } from './resources/dependencies.ts';
import { createResources } from './resources/index.ts';
import { loadSecrets, type Secrets } from './secrets/index.ts';
import { createSeal } from './secrets/seal.ts';
import type { Database } from './storage/database.ts';
import { openSqlite } from './storage/sqlite/index.ts';
import { maxRemoved, removeInParts } from './storage/table-rows.ts';
import { succeedOnce } from './turns/once.ts';
import { runAtIntervals, waitAtMost } from './turns/wait.ts';
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
   * Fulfilled when the start-up work is done, such as creating the first administrator. Until then the service is not
   * ready, and all requests wait except those of operators. Undefined if there is nothing to do.
   */
  readonly starting?: Promise<void>;
  /** Defaults to those of versions.ts. */
  readonly versions?: Versions | undefined;
}

export interface Service {
  /** The address it listens on, such as `http://127.0.0.1:3000`. */
  readonly address: string;
  /** Resolves when all work due after a commit is done: mail sent, users notified. */
  settle(): Promise<void>;
  /**
   * Serves for `delay` more seconds while asking clients to close their connections. Then it accepts no new
   * connections, finishes the requests in flight (STOP_TIMEOUT at most), and releases everything except the database.
   * @param hurry ends the delay early
   */
  stop(delay?: number, hurry?: Promise<unknown>): Promise<void>;
}

/** The dependencies of the resources, and the parts the service itself needs. */
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
  const { RATE_LIMIT, RATE_WINDOW } = config;
  const quota = createQuota('requests', RATE_LIMIT, RATE_WINDOW, { failsOpen: true });
  const observer = createObserver(log, clock);
  const idempotency = createIdempotency(database, clock, secrets);
  const { queue, seal, limits, dependencies } = compose(
    options,
    secrets,
    delays,
    () => server.port ?? config.PORT,
  );
  const resources = createResources(dependencies, secrets, createQuota);
  const [stopping, mailer] = [createStopControl(), createMailer(config)];
  const consumers = [...resources.consumers, createMailConsumer(mailer, seal, resources.mailSent)];
  const dispatcher = createDispatcher({ database, clock, log, consumers });
  const retention = createRetention(database, clock, config.EVENTS_RETENTION_DAYS);
  const [loop, measureJump] = [createLoopDelay(), createJumpMeter(clock)];
  const published = (options.versions ?? buildPublishedVersions)(config, resources.endpoints);
  const versions = addEntries(addSuccessors(published, config.BASE_URL));
  const renditions = createQuota('sizes of images', RATE_LIMIT, RATE_WINDOW, { failsOpen: true });
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
  const endSweeps = runAtIntervals(sweep, sweepEveryMs);
  // Without the database it is unknown whether there are images; other log lines report that.
  void hasImages(database).then(media.open, () => undefined);

  /**
   * Deletes expired data: that of the resources, failed attempts, mail counters, idempotent responses, quota windows
   * and, if configured, events. A step that fails does not prevent the others.
   * After a jump of the clock it skips one interval: the clock may be wrong, and deleted data would be missing once it is
   * right again.
   */
  async function sweep(): Promise<void> {
    const ahead = measureJump();
    if (ahead > 0) {
      log.warn('the clock has jumped ahead: expired data is kept until the next sweep', {
        seconds: ahead,
      });
      return;
    }
    const steps: Readonly<Record<string, () => Promise<number>>> = {
      ...resources.sweeps,
      attempts: () => delays.sweep(),
      recipients: () => database.write(session => limits.sweep(session, clock.now())),
      responses: () => idempotency.sweep(),
      responsesSetBack: () => idempotency.setBack(),
      counters: () => quota.sweep(),
      events: () => retention.events(stopping.hasBegun),
      deliveries: () => retention.deliveries(stopping.hasBegun),
      hastened: createHastener({ database, clock, log, consumers }),
    };
    const swept: Record<string, unknown> = {};
    for (const [what, step] of Object.entries(steps)) {
      if (stopping.hasBegun()) break;
      try {
        swept[what] = await removeInParts(step, stopping.hasBegun, maxRemoved);
      } catch (error) {
        log.warn('removing expired rows failed', { what, ...describeError(error) });
      }
    }
    log.debug('swept', swept);
  }

  return {
    address: `http://${/^[^[].*:/.test(config.HOST) ? `[${config.HOST}]` : config.HOST}:${server.port}`,
    async settle() {
      await resources.written();
      await dispatcher.settle();
    },
    async stop(delay = 0, hurry) {
      stopping.begin();
      const swept = endSweeps();
      // Load balancers see /ready respond 503, and clients close their connections, so that few are idle below.
      if (delay > 0) await Promise.race([Bun.sleep(delay * 1000), ...(hurry === undefined ? [] : [hurry])]);
      if (delay > 0) await stopping.hold();
      // Accepts no new connections and closes idle ones. Not awaited: the promise also waits for slow clients.
      void server.stop();
      stopping.release();
      const deadline = performance.now() + config.STOP_TIMEOUT * 1000;
      while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(drainPollMs);
      if (server.pendingRequests > 0) {
        log.warn('stop: requests in flight did not finish in time', { pending: server.pendingRequests });
      }
      await server.stop(true);
      const left = Math.max(0, deadline - performance.now());
      await Promise.all([dispatcher.stop(left), waitAtMost(swept, left)]);
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

/** The OpenAPI document of the current version (openapi.json), built without serving or reading settings and files. */
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

/** The endpoints outside the versions. They serve the documents of the versions, which describe these endpoints too. */
function createOperations(
  versions: readonly PublishedVersion[],
  images: readonly Endpoint[],
  base: string | undefined,
  options: Omit<OperationsOptions, 'release' | 'versions' | 'docs'>,
): Endpoint[] {
  const described = versions.map(version => ({
    name: version.name,
    links: (root: string) => buildEntryLinks(version, root),
    document: succeedOnce(async () =>
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
