/** The queries of uploaded images. The images of a product are part of the product: see products/store.ts. */

import { sql } from 'kysely';
import type { PreparedImage } from '../../media/prepare.ts';
import { dayMs } from '../../ports/clock.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';

export type ImageStore = ReturnType<typeof createImageStore>;

/** How long an unused image is kept: pages and mails may still show it. */
const unusedMs = dayMs;
const forgottenAtOnce = 100;

export function createImageStore({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  return {
    /** Records an image that is about to be used, and protects it from deletion until the transaction ends. */
    async add(session: Transaction, { hash, type, bytes, width, height, colour }: PreparedImage, at: number) {
      const insert = sql`insert into media (hash, type, size, width, height, colour, created_at)
        values (${hash}, ${type}, ${bytes.length}, ${width}, ${height}, ${colour}, ${at})
        on conflict (hash) do update set type = excluded.type`;
      await session.run(insert.compile(build));
    },

    async has(session: Session, hash: string): Promise<boolean> {
      const query = sql`select hash from media where hash = ${hash}`;
      return (await session.first(query.compile(build))) !== undefined;
    },

    /**
     * Deletes some rows of images that no product has used for long; returns their hashes, in order. They are returned
     * again until `forgetRemoved` is called: the store of their files may be away.
     */
    async forgetUnused(session: Transaction, now: number): Promise<string[]> {
      const due = sql<{ hash: string }>`select hash from media_unused where since <= ${now - unusedMs}
        order by since limit ${sql.lit(forgottenAtOnce)}`;
      const hashes = (await session.all(due.compile(build))).map(({ hash }) => hash).sort();
      if (hashes.length === 0) return [];
      const list = sql.join(hashes);
      // Locked, so that no product can start to use one. A separate statement finds unused ones: it sees all uses.
      const locked = sql`select hash from media where hash in (${list}) order by hash ${dialect.forUpdate}`;
      await session.all(locked.compile(build));
      const uses = sql<{ hash: string }>`select distinct hash from media_uses where hash in (${list})`;
      const used = (await session.all(uses.compile(build))).map(({ hash }) => hash);
      if (used.length > 0)
        await session.run(sql`delete from media_unused where hash in (${sql.join(used)})`.compile(build));
      const unused = hashes.filter(hash => !used.includes(hash));
      if (unused.length > 0)
        await session.run(sql`delete from media where hash in (${sql.join(unused)})`.compile(build));
      return unused;
    },

    /** Records that the files of unused images were removed. Some may have been used and become unused since. */
    async forgetRemoved(session: Transaction, hashes: readonly string[], now: number): Promise<void> {
      const gone = sql`delete from media_unused where hash in (${sql.join(hashes)})
        and since <= ${now - unusedMs}`;
      await session.run(gone.compile(build));
    },
  };
}
