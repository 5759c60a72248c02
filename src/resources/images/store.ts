/** The queries of images that are kept here. The images of a product are part of the product: see products/store.ts. */

import { sql } from 'kysely';
import type { PreparedImage } from '../../media/prepare.ts';
import { dayMs } from '../../ports/clock.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';

export interface ImageStore {
  /** Takes note of an image that is about to be used; keeps others from forgetting it until the transaction ends. */
  add(session: Transaction, image: PreparedImage, at: number): Promise<void>;
  has(session: Session, hash: string): Promise<boolean>;
  /** Takes note that an image may not be used any more: it is forgotten when no product uses it then. */
  noteUnused(session: Session, hash: string, at: number): Promise<void>;
  /** Forgets some that no product has used for long; gives their hashes, in order. */
  forgetUnused(session: Transaction, now: number): Promise<string[]>;
}

/** How long an image that no product uses any more is kept: pages and mails may show it still. */
const unusedMs = dayMs;
const forgottenAtOnce = 100;

export function createImageStore({ build, dialect }: Pick<Database, 'build' | 'dialect'>): ImageStore {
  return {
    async add(session, { hash, type, bytes, width, height, colour }, at) {
      const row = { hash, type, size: bytes.length, width, height, colour, created_at: at };
      const insert = build
        .insertInto('media')
        .values(row)
        .onConflict(conflict => conflict.column('hash').doUpdateSet({ type }));
      await session.run(insert.compile());
    },

    async has(session, hash) {
      const query = build.selectFrom('media').select('hash').where('hash', '=', hash);
      return (await session.first(query.compile())) !== undefined;
    },

    async noteUnused(session, hash, at) {
      const unused = sql`insert into media_unused (hash, since) values (${hash}, ${at})
        on conflict (hash) do update set since = excluded.since`;
      await session.run(unused.compile(build));
    },

    async forgetUnused(session, now) {
      const due = await session.all(
        build
          .selectFrom('media_unused')
          .select('hash')
          .where('since', '<=', now - unusedMs)
          .orderBy('since')
          .limit(forgottenAtOnce)
          .compile(),
      );
      const hashes = due.map(({ hash }) => hash).sort();
      if (hashes.length === 0) return [];
      const list = sql.join(hashes);
      // Locked, so that no product begins to use one meanwhile; looked up by a statement of its own, which sees those that have.
      const locked = sql`select hash from media where hash in (${list}) order by hash ${dialect.forUpdate}`;
      await session.all(locked.compile(build));
      const unused = sql<{ hash: string }>`select hash from media where hash in (${list})
        and not exists (select 1 from media_uses where media_uses.hash = media.hash) order by hash`;
      const forgotten = (await session.all(unused.compile(build))).map(({ hash }) => hash);
      if (forgotten.length > 0)
        await session.run(build.deleteFrom('media').where('hash', 'in', forgotten).compile());
      await session.run(build.deleteFrom('media_unused').where('hash', 'in', hashes).compile());
      return forgotten;
    },
  };
}
