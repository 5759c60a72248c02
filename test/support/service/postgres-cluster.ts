/** A PostgreSQL server on its own folder and port, which a test may stop and restart, and whose backends it may end. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { createCluster, throwaway } from '../../../scripts/tests/postgresql.ts';

export interface PostgresCluster {
  readonly url: string;
  /** Stops as in a crash: connections are cut, there is no orderly shutdown, and the next start recovers. */
  stop(): Promise<void>;
  /** Does nothing while it runs. */
  start(): Promise<void>;
  /** Ends every connection of the service. Resolves with their number when all have ended. */
  terminateBackends(): Promise<number>;
  /** Stops every process of the server, while its connections stay open. @returns a function that resumes them */
  freeze(): () => void;
  remove(): Promise<void>;
}

export async function startCluster(): Promise<PostgresCluster> {
  const cluster = await createCluster({ settings: throwaway });
  const { url, folder } = cluster;
  await cluster.start();

  const postmaster = () => Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const stop = () => cluster.stop('SIGQUIT');

  return {
    url,
    stop,
    start: cluster.start,
    async terminateBackends() {
      const admin = new SQL(url, { max: 1 });
      const ended: { pid: number }[] = await admin.unsafe(
        `select pid, pg_terminate_backend(pid) from pg_stat_activity where application_name = 'catalog'`,
      );
      const pids = ended.map(({ pid }) => pid).join();
      // The function above only sends the signal: the service could still use a connection that has not ended.
      const left = `select 1 from pg_stat_activity where pid in (${pids})`;
      while (pids !== '' && (await admin.unsafe(left)).length > 0);
      await admin.close();
      return ended.length;
    },
    freeze() {
      const pids = [postmaster(), ...childrenOf(postmaster())];
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      return () => {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      };
    },
    async remove() {
      await stop();
      cluster.remove();
    },
  };
}

/** The child processes of a process, from Linux's /proc. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    // "1234 (name) S 1 …": the name may hold anything, so the fields are counted from its end.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process has ended since the list was read.
    return undefined;
  }
}
