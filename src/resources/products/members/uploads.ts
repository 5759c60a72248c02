/** Uploaded images: records which products show them, on every change of a product's images; reads which ones exist. */
import { sql } from 'kysely';
import type { Builder, Database, Session, Transaction } from '../../../storage/database.ts';
import type { Row } from '../../../storage/tables.ts';
import { splitIntoParts } from '../../../turns/slices.ts';
import { computeImageId, type Image, mediaPath, type SentImage } from './images.ts';

/** The images of a product before and after a change; none before its creation and after its deletion. */
export interface ImageChange {
  readonly id: number;
  readonly before: readonly Image[];
  readonly after: readonly Image[];
}

/** The hash in the address of an uploaded image; undefined for a link. */
export function findHash(url: string): string | undefined {
  return url.startsWith(mediaPath) ? url.slice(mediaPath.length) : undefined;
}

const collectHashes = (images: readonly Image[]): Set<string> =>
  new Set(images.flatMap(({ url }) => findHash(url) ?? []));

/** Records that an image may have become unused: it is deleted later, if no product uses it then. */
export async function noteUnused(session: Session, build: Builder, hash: string, at: number): Promise<void> {
  const unused = sql`insert into media_unused (hash, since) values (${hash}, ${at})
    on conflict (hash) do update set since = excluded.since`;
  await session.run(unused.compile(build));
}

/** @returns a function that records the changed uses of a product; `at` is the time in epoch milliseconds */
export function createUploadUseWriter({ build }: Pick<Database, 'build'>) {
  async function release(session: Transaction, id: number, hashes: readonly string[], at: number) {
    const gone = build
      .deleteFrom('media_uses')
      .where('product_id', '=', id)
      .where('hash', 'in', [...hashes]);
    await session.run(gone.compile());
    for (const hash of hashes) await noteUnused(session, build, hash, at);
  }

  return async (session: Transaction, { id, before, after }: ImageChange, at: number): Promise<void> => {
    const [had, has] = [collectHashes(before), collectHashes(after)];
    // Sorted, so that all transactions lock in the same order.
    const gone = [...had.difference(has)].sort();
    if (gone.length > 0) await release(session, id, gone, at);
    for (const hash of [...has.difference(had)].sort()) {
      const use = sql`insert into media_uses (hash, product_id) values (${hash}, ${id})
        on conflict (hash, product_id) do nothing`;
      await session.run(use.compile(build));
    }
  };
}

/** Known uploads, by address. */
export type Uploads = ReadonlyMap<string, Pick<Image, 'width' | 'height' | 'colour' | 'type'>>;

type MediaRow = Pick<Row<'media'>, 'hash' | 'width' | 'height' | 'colour' | 'type'>;

/** The maximum number of addresses in one statement. */
const maxAtOnce = 500;

/**
 * @returns a function that finds which of these images are uploads in this catalog: an export names an upload by its
 *   address, which is derived from its content. Locked uploads are not removed until the transaction ends.
 */
export function createUploadReader({ build, dialect }: Pick<Database, 'build' | 'dialect'>) {
  return async (session: Session, images: readonly SentImage[], mode: 'lock' | 'read'): Promise<Uploads> => {
    const hashes = [...new Set(images.flatMap(({ url }) => findHash(url ?? '') ?? []))].sort();
    const found = new Map<string, Omit<MediaRow, 'hash'>>();
    for (const some of splitIntoParts(hashes, maxAtOnce)) {
      const query = sql<MediaRow>`select hash, width, height, colour, type from media
        where hash in (${sql.join(some)}) order by hash ${mode === 'lock' ? dialect.forKeyShare : sql``}`;
      for (const { hash, ...row } of await session.all(query.compile(build)))
        found.set(mediaPath + hash, row);
    }
    return found;
  };
}

/** The images of a product, plus those sent that are known uploads. */
export function addUploads(before: Image[], sent: readonly SentImage[], uploads: Uploads): Image[] {
  if (uploads.size === 0) return before;
  const images = [...before];
  for (const { id, url, alt } of sent) {
    const upload = url == null ? undefined : uploads.get(url);
    if (url == null || upload === undefined || images.some(image => image.url === url)) continue;
    const taken = new Set(images.map(image => image.id));
    const own = id == null || taken.has(id) ? computeImageId(url, taken) : id;
    images.push({ id: own, url, alt: alt ?? null, ...upload });
  }
  return images;
}
