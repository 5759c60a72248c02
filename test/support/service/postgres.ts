/**
 * The PostgreSQL server that TEST_DATABASE_URL names; where it is not set, `npm test` starts one for the run. Each
 * service under test gets a database of its own on it.
 */
import { SQL } from 'bun';

/** Whether there is a server; without it, the scenarios on PostgreSQL are skipped. */
export const hasPostgres = (process.env.TEST_DATABASE_URL ?? '') !== '';

/** Names of the databases to drop after the tests of a file. */
const names = new Set<string>();

/** @param options options of CREATE DATABASE, as SQL @returns the URL of a new, empty database */
export function createDatabase(options = ''): Promise<string> {
  return create(options);
}

/** @param template a database without connections @returns the URL of a new copy of it */
export function copyDatabase(template: string): Promise<string> {
  // Copying the files costs less than logging their content, where nothing must survive a power failure.
  return create(` template ${new URL(template).pathname.slice(1)} strategy file_copy`);
}

/** The same database through the pooler that TEST_DATABASE_POOLER names as `host:port`, if it is set. */
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

/** Keeps a database for the next files of tests; the run drops it at its end. */
export function keepForRun(url: string): void {
  if (process.env.TEST_RUN !== undefined) names.delete(new URL(url).pathname.slice(1));
}

/** Drops the databases of a file of tests, except on a server started for this run, which is removed as a whole. */
export async function dropDatabases(): Promise<void> {
  if (process.env.TEST_DATABASE_OWN !== undefined) return;
  for (const name of names) await admin().unsafe(`drop database if exists ${name} with (force)`);
  names.clear();
}

let connected: SQL | undefined;

/** One connection for the whole process: opening one costs a third as much as creating a database. */
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
