/** A primary and a standby that streams from it, both started for the run. The standby begins as a copy. */
import { chownSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { type Cluster, createCluster } from '../../../scripts/tests/postgresql.ts';

export interface Pair {
  readonly primary: Cluster;
  readonly standby: Cluster;
  /** Both servers, as DATABASE_URL names them. */
  readonly url: string;
  /** Resolves when the standby shows all that the primary has committed, which it receives before it shows it. */
  catchUp(): Promise<void>;
  /** Makes the standby the primary; resolves when it accepts writes. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

const settings = ['fsync=off', 'wal_level=replica', 'max_wal_senders=10', 'max_connections=200'];

/** Every COMMIT waits until the standby has it. */
export async function startPair(): Promise<Pair> {
  const synchronous = ['synchronous_standby_names=*', 'synchronous_commit=on'];
  const primary = await createCluster({ settings: [...settings, ...synchronous] });
  const folder = mkdtempSync(join(tmpdir(), 'catalog-standby-'));
  rmSync(folder, { recursive: true });
  // The primary is not running yet, so the copy is consistent.
  cpSync(primary.folder, folder, { recursive: true });
  writeFileSync(join(folder, 'standby.signal'), '');
  writeFileSync(
    join(folder, 'postgresql.auto.conf'),
    `primary_conninfo = '${primary.url.replace(/\/postgres$/, '')}?application_name=standby'\n`,
  );
  giveTo(folder, statSync(primary.folder));
  const standby = await createCluster({ folder, settings });
  await primary.start();
  await standby.start();
  const hosts = [primary, standby].map(({ url }) => new URL(url).host).join();
  return {
    primary,
    standby,
    url: `postgres://postgres:postgres@${hosts}/postgres`,
    async catchUp() {
      await using ahead = new SQL(primary.url, { max: 1 });
      await using behind = new SQL(standby.url, { max: 1 });
      const [{ place }] = await ahead`select pg_current_wal_lsn()::text as place`;
      const isThere = async () =>
        (await behind`select pg_last_wal_replay_lsn() >= ${place}::pg_lsn as "isThere"`)[0].isThere;
      while (!(await isThere()));
    },
    async promote() {
      const admin = new SQL(standby.url, { max: 1 });
      await admin.unsafe('select pg_promote(true)');
      await admin.close();
    },
    async remove() {
      await primary.stop('SIGQUIT');
      await standby.stop('SIGQUIT');
      primary.remove();
      standby.remove();
    },
  };
}

/** When run as root, the server runs as another user, who must own its files. */
function giveTo(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  chownSync(path, uid, gid);
  if (!statSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(join(path, name), { uid, gid });
}
