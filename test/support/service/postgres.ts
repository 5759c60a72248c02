/**
 * The PostgreSQL that TEST_DATABASE_URL names: `npm test` starts one for the run where it is not given. Each service
 * under test gets a database of its own in it.
 */
import { SQL } from 'bun';

/** Whether there is one; without it the scenarios on PostgreSQL are skipped. */
export const hasPostgres = (process.env.TEST_DATABASE_URL ?? '') !== '';

/** Of the databases to be dropped after the tests of a file. */
const names = new Set<string>();

/** @param options in the words of CREATE DATABASE @returns the URL of a new, empty database */
export function createDatabase(options = ''): Promise<string> {
  return create(options);
}

/** @returns the URL of a new copy of a database without connections */
export function copyDatabase(template: string): Promise<string> {
  // Copies files: with nothing to be kept through a power failure that costs less than writing a log of them.
  return create(` template ${new URL(template).pathname.slice(1)} strategy file_copy`);
}

/** The same database through the pooler that TEST_DATABASE_POOLER names as `host:port`, where it does. */
export function throughPooler(url: string): string {
  const pooler = process.env.TEST_DATABASE_POOLER;
  return pooler === undefined ? url : Object.assign(new URL(url), { host: pooler }).href;
}

async function create(origin: string): Promise<string> {
  const name = `catalog_test_${process.env.TEST_RUN ?? process.pid}_${crypto.randomUUID().slice(0, 8)}`;
  await admin().unsafe(`create database ${name}${origin}`);
  names.add(name);
  return Object.assign(new URL(serverUrl()), { pathname: `/${name}` }).href;
}

/** Lets a database stay for the files that follow; the run drops it at its end. */
export function keepForRun(url: string): void {
  if (process.env.TEST_RUN !== undefined) names.delete(new URL(url).pathname.slice(1));
}

/** Drops what the tests of a file have made; a server that was started for this run is thrown away whole. */
export async function dropDatabases(): Promise<void> {
  if (process.env.TEST_DATABASE_OWN !== undefined) return;
  for (const name of names) await admin().unsafe(`drop database if exists ${name} with (force)`);
  names.clear();
}

let connected: SQL | undefined;

/** One connection for the whole process: to open one costs a third of a database. */
function admin(): SQL {
  connected ??= new SQL(serverUrl(), { max: 1 });
  return connected;
}

function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined || url === '')
    throw new Error(
      'there is no PostgreSQL: run the tests with npm test, or name one with TEST_DATABASE_URL',
    );
  return url;
}
