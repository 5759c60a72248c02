/** A PostgreSQL server that a test may stop, start again and kill the backends of, on its own folder and port. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { createCluster, throwaway } from '../../../scripts/tests/postgresql.ts';

export interface PostgresCluster {
  readonly url: string;
  /** The end of a crash: connections are cut, nothing is shut down in order, and the start recovers. */
  stop(): Promise<void>;
  /** Does nothing while it runs. */
  start(): Promise<void>;
  /** Ends every connection of the service; resolves, with how many there were, when all are gone. */
  terminateBackends(): Promise<number>;
  /** Every process of the server stands still, its connections stay open; gives the way back. */
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
      // The function above only sends the signal: a connection that is still there could be begun to be used.
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

/** The processes that a process has started, from Linux's list of all. */
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
    // It has ended since the list was read.
    return undefined;
  }
}
