/** Which products show which images that are kept here: written with every change of a product's images. */
import { sql } from 'kysely';
import type { Database, Transaction } from '../../../storage/database.ts';
import { type Image, mediaPath } from './images.ts';

/** A product's images before and after a change; none after it is deleted. */
export interface ImageChange {
  readonly id: number;
  readonly before: readonly Pick<Image, 'url'>[];
  readonly after: readonly Pick<Image, 'url'>[];
}

/** The hash in the address of an image that is kept here; undefined for a link. */
export function findHash(url: string): string | undefined {
  return url.startsWith(mediaPath) ? url.slice(mediaPath.length) : undefined;
}

const collectHashes = (images: readonly Pick<Image, 'url'>[]): Set<string> =>
  new Set(images.flatMap(({ url }) => findHash(url) ?? []));

/** @returns a function that writes what has changed; `at` is when, in epoch milliseconds */
export function createUploadUseWriter({ build }: Pick<Database, 'build'>) {
  async function release(session: Transaction, id: number, hashes: readonly string[], at: number) {
    const gone = build
      .deleteFrom('media_uses')
      .where('product_id', '=', id)
      .where('hash', 'in', [...hashes]);
    await session.run(gone.compile());
    for (const hash of hashes) {
      const unused = sql`insert into media_unused (hash, since) values (${hash}, ${at})
        on conflict (hash) do update set since = excluded.since`;
      await session.run(unused.compile(build));
    }
  }

  return async (session: Transaction, changes: readonly ImageChange[], at: number): Promise<void> => {
    for (const { id, before, after } of changes) {
      const [had, has] = [collectHashes(before), collectHashes(after)];
      // In one order for all transactions.
      const gone = [...had].filter(hash => !has.has(hash)).sort();
      const fresh = [...has].filter(hash => !had.has(hash)).sort();
      if (gone.length > 0) await release(session, id, gone, at);
      for (const hash of fresh) {
        const use = sql`insert into media_uses (hash, product_id) values (${hash}, ${id})
          on conflict (hash, product_id) do nothing`;
        await session.run(use.compile(build));
      }
    }
  };
}
