/** PostgreSQL for measurements: the server that BENCH_DATABASE_URL names, or one kept beside the databases. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { createCluster } from '../../scripts/tests/postgresql.ts';
import { cpuSecondsOfTree } from './processes.ts';

export interface PostgresServer {
  /** The URL of the database with this name. */
  url(database: string): string;
  has(database: string): Promise<boolean>;
  /** Creates a database, as a copy of `template` if given. */
  create(database: string, template?: string): Promise<void>;
  drop(database: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  version(): Promise<string>;
  /** The CPU time of all the server's processes; undefined where they run on another machine. */
  cpuSeconds(): number | undefined;
  stop(): Promise<void>;
}

export async function startPostgres(folder: string): Promise<PostgresServer> {
  const given = process.env.BENCH_DATABASE_URL;
  if (given !== undefined) return server(given, undefined, async () => undefined);
  mkdirSync(folder, { recursive: true });
  // With default settings: fsync and full_page_writes stay on.
  const cluster = await createCluster({ folder: join(folder, 'postgresql'), settings: [] });
  await cluster.start();
  const pid = Number(readFileSync(join(cluster.folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return server(cluster.url, pid, () => cluster.stop());
}

function server(url: string, pid: number | undefined, stop: () => Promise<void>): PostgresServer {
  const admin = new SQL(url, { max: 1 });
  return {
    url: database => Object.assign(new URL(url), { pathname: `/${database}` }).href,
    async has(database) {
      const rows: unknown[] = await admin`select 1 from pg_database where datname = ${database}`;
      return rows.length > 0;
    },
    async create(database, template) {
      const copy = template === undefined ? '' : ` template ${template} strategy file_copy`;
      await admin.unsafe(`create database ${database}${copy}`);
    },
    drop: database => admin.unsafe(`drop database if exists ${database} with (force)`),
    rename: (from, to) => admin.unsafe(`alter database ${from} rename to ${to}`),
    async version() {
      const rows: { server_version: string }[] = await admin.unsafe('show server_version');
      return rows[0]?.server_version ?? 'unknown';
    },
    cpuSeconds: () => (pid === undefined ? undefined : cpuSecondsOfTree(pid)),
    async stop() {
      await admin.close();
      await stop();
    },
  };
}
