/** The measured servers, each in a process and on a port of its own. */
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { commandEnvironments } from '../../scripts/install.mjs';

export interface RunningServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const root = join(import.meta.dir, '..', '..');
const startLimitMs = 30_000;
const pollMs = 1;

const admin = { email: 'bench@catalog.example', password: 'bench and bench again' } as const;

/** The service's default settings, except for a quota too large to be exhausted. */
export const shipped = {
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
  RATE_LIMIT: '1000000000',
  // Otherwise the generator's idle connections would delay each stop.
  STOP_TIMEOUT: '0',
  JWT_SECRET: 'a secret for measurements, long enough for HS256',
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
} as const;

export const serviceCommand = [process.execPath, 'src/main.ts', 'serve'] as const;

/** @param settings DATA_DIR, and DATABASE_URL for PostgreSQL; @param errors the file for standard error */
export function startService(
  settings: Readonly<Record<string, string>>,
  errors: string,
): Promise<RunningServer> {
  return start(
    [...serviceCommand],
    '/ready',
    { ...commandEnvironments.serve, ...shipped, ...settings },
    errors,
  );
}

export function startBareNode(body: string, errors: string): Promise<RunningServer> {
  return start(['node', 'bench/servers/baseline-node.mjs'], '/', { BODY: body }, errors);
}

export function startBareBun(body: string, errors: string): Promise<RunningServer> {
  return start([process.execPath, 'bench/servers/baseline-bun.ts'], '/', { BODY: body }, errors);
}

export async function start(
  cmd: string[],
  health: string,
  settings: Readonly<Record<string, string>>,
  errors: string,
): Promise<RunningServer> {
  const port = await freePort();
  const child = Bun.spawn(cmd, {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: String(port), ...settings },
    stdin: 'ignore',
    // The service writes its log, but no process reads it.
    stdout: 'ignore',
    stderr: openSync(errors, 'w'),
  });
  // An interrupted run must not leave a server behind.
  const kill = () => child.kill();
  process.once('exit', kill);
  await ready(`http://127.0.0.1:${port}${health}`, () => child.exitCode, errors);
  return {
    port,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
      process.off('exit', kill);
    },
  };
}

/** Waits for the first response with 200. */
async function ready(url: string, exitCode: () => number | null, errors: string): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < startLimitMs) {
    if (exitCode() !== null) break;
    try {
      if ((await fetch(url, { keepalive: false })).status === 200) return;
    } catch {
      // Nothing listens yet.
    }
    await Bun.sleep(pollMs);
  }
  throw new Error(`No response from ${url} (exit code ${exitCode()}): ${await Bun.file(errors).text()}`);
}

/** An access token of the administrator, valid for 15 minutes. */
export async function signIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(admin),
  });
  const body: unknown = await response.json();
  if (typeof body === 'object' && body !== null && 'accessToken' in body) return String(body.accessToken);
  throw new Error(`Sign-in answered ${response.status}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      );
    });
  });
}
