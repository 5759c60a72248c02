/** A separate PostgreSQL for tests and measurements: its folder, start and stop. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  installBinaries,
  NoPostgres,
  type Owner,
  sharedFolder,
  unprivilegedOwner,
} from './postgresql-binaries.ts';

export { NoPostgres } from './postgresql-binaries.ts';

/** A start without progress for this many milliseconds has failed. */
const patience = 10_000;

/** Settings of a cluster whose data need not survive a power failure. */
export const throwaway: readonly string[] = [
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_connections=300',
  // Hundreds of small databases live for seconds: nothing has to be vacuumed, or written early.
  'autovacuum=off',
  'checkpoint_timeout=1h',
  'bgwriter_lru_maxpages=0',
  // Reads hit the system's cache: handing them to another process costs more.
  'io_method=sync',
  'max_parallel_workers_per_gather=0',
  'jit=off',
];

export interface Cluster {
  /** The address of the database `postgres`, as its superuser. */
  readonly url: string;
  /** The data folder. */
  readonly folder: string;
  /** Resolves once it accepts connections. @throws NoPostgres with the reason in one line */
  start(): Promise<void>;
  /**
   * Resolves once its process has ended; does nothing if it is not running.
   * @param signal SIGINT ends connections and closes the files in order; SIGQUIT acts like a crash
   */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  remove(): void;
}

export interface ClusterOptions {
  /** Kept, and reused if it already holds a cluster; by default a new folder among the temporary files. */
  readonly folder?: string;
  /** Settings of the server that override its defaults: `name=value`. */
  readonly settings: readonly string[];
}

/** A cluster that is not running yet. @throws NoPostgres with the reason in one line */
export async function createCluster({ folder: given, settings }: ClusterOptions): Promise<Cluster> {
  const binaries = installBinaries();
  const owner = unprivilegedOwner();
  const folder = given ?? mkdtempSync(join(sharedFolder(), 'catalog-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (!existsSync(join(folder, 'PG_VERSION'))) await initialise(binaries, folder, owner);
  } catch (error) {
    remove();
    throw error;
  }
  const port = await freePort();
  const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
  const args = ['-D', folder, '-p', String(port), ...flags.flatMap(setting => ['-c', setting])];
  let server: ChildProcess | undefined;
  // Nothing can be awaited at exit: the server is killed together with this process.
  process.on('exit', () => server?.kill('SIGQUIT'));

  async function stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    running.on('exit', () => resolve());
    running.kill(signal);
    await promise;
  }

  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    folder,
    async start() {
      server ??= await run(
        join(binaries, 'bin', 'postgres'),
        args,
        owner,
        /ready to accept (read-only )?connections/,
      );
    },
    stop,
    remove,
  };
}

async function initialise(binaries: string, folder: string, owner: Owner | undefined): Promise<void> {
  const secrets = mkdtempSync(join(sharedFolder(), 'catalog-postgres-password-'));
  const password = join(secrets, 'password');
  try {
    writeFileSync(password, 'postgres\n', { mode: 0o600 });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (owner !== undefined)
      for (const path of [secrets, password, folder]) chownSync(path, owner.uid, owner.gid);
    const user = ['--username=postgres', `--pwfile=${password}`, '--auth=password'];
    // Independent of the machine, so that names and messages are the same everywhere.
    const rest = ['--no-sync', '--encoding=UTF8', '--locale=C'];
    // The password is no secret, and each of a thousand connections derives a key from it.
    const cheap = ['--set=scram_iterations=1'];
    await run(join(binaries, 'bin', 'initdb'), [`--pgdata=${folder}`, ...user, ...rest, ...cheap], owner);
  } finally {
    rmSync(secrets, { recursive: true, force: true });
  }
}

/**
 * Runs one of PostgreSQL's programs until it ends with success or, if given, its output matches the pattern.
 * @throws NoPostgres if it fails, or prints nothing for too long
 */
function run(path: string, args: readonly string[], owner?: Owner, pattern?: RegExp): Promise<ChildProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  const env = { PATH: process.env.PATH ?? '', TZ: process.env.TZ ?? 'UTC', LC_ALL: 'C' };
  const child = spawn(path, args, { ...owner, cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] });
  let isSettled = false;
  let output = '';
  let timer: Timer | undefined;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`nothing has happened for ${patience / 1000} s`);
    }, patience);
  };
  const settle = () => {
    clearTimeout(timer);
    isSettled = true;
  };
  const fail = (reason: string) => {
    settle();
    reject(new NoPostgres(`PostgreSQL does not start: ${reason}`));
  };
  const succeed = () => {
    settle();
    resolve(child);
  };
  // Continues afterwards too: a process that writes to a pipe blocks if the pipe is not read.
  const listen = (chunk: Buffer) => {
    if (isSettled) return;
    wait();
    output += chunk;
    if (pattern?.test(output)) succeed();
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  child.on('error', error => fail(error.message));
  child.on('close', status =>
    status === 0 && pattern === undefined ? succeed() : fail(reasonIn(output, status)),
  );
  wait();
  return promise;
}

/** The line that gives the reason; else the last one. */
function reasonIn(output: string, status: number | null): string {
  const lines = output.split('\n').filter(line => line.trim() !== '');
  const reason = lines.find(line => /FATAL|PANIC|error:|cannot|could not/i.test(line)) ?? lines.at(-1);
  return reason?.trim() ?? `it ended with status ${status}`;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject()));
    });
  });
}
