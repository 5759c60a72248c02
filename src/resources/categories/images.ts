/**
 * Images that categories are shown with: each is an image of a product. Ids of images are those of one product; which
 * product is meant is found once, when a category is given the image, and kept with it.
 */
import { type CompiledQuery, sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import { createFieldError } from '../../http/errors.ts';
import { type Database, largestId, type Session, type Transaction } from '../../storage/database.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { type Arguments, prepareQuery } from '../../storage/prepared.ts';
import { takeTurn } from '../../turns/index.ts';
import { storedProduct } from '../products/members/stored.ts';
import { type CategoryImage, noImage } from './row.ts';
import { createCategoryWriter } from './write.ts';

/** What was looked for, and the first product that has it. */
export interface SoughtImage {
  readonly id: number;
  readonly product: number | undefined;
}

interface Shower {
  readonly id: number;
  readonly document: string;
}

/** What was found in some products. */
interface Part {
  readonly last: number | null;
  readonly product: number | null;
  readonly size: number;
}

/** Products that one statement looks through: a few milliseconds, between which others read and are served. */
const productsAtOnce = 5000;

export function createCategoryImages(database: Pick<Database, 'build' | 'dialect' | 'snapshot'>) {
  const { build, dialect } = database;
  const part = prepareQuery<Arguments, Part>(
    build,
    ({ after, written }) => sql`select max(id) as last, cast(count(*) as integer) as size,
        min(case when ${dialect.position(sql`document`, sql`${written}`)} > 0 then id end) as product
      from (select id, document from products where id > ${after} order by id limit ${sql.lit(productsAtOnce)}) as part`,
  );

  /** The first product that shows an image of this id: all are read until one does. */
  async function find(
    read: (query: CompiledQuery<Part>) => Promise<Part | undefined>,
    id: number,
  ): Promise<number | undefined> {
    // As JSON writes it; within a text its quotation marks are escaped.
    const written = `{"id":${id},"url":"`;
    for (let after = 0; ; ) {
      const found = await read(part({ after, written }));
      if (typeof found?.product === 'number') return found.product;
      if (found === undefined || found.last === null || found.size < productsAtOnce) return undefined;
      after = found.last;
      await takeTurn();
    }
  }

  return {
    /**
     * Looks for the product beside everything else: of a large catalog that takes seconds.
     * @param id anything that a request names
     */
    async seek(id: unknown): Promise<SoughtImage | undefined> {
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || id > largestId) return undefined;
      const readInBackground = (query: CompiledQuery<Part>) =>
        database.snapshot(session => session.first(query), { background: true });
      return { id, product: await find(readInBackground, id) };
    },

    /**
     * The image of this id, which its product keeps until the transaction ends.
     * @throws HttpError 400 when no product has it
     */
    async require(session: Session, id: number, sought: SoughtImage | undefined): Promise<CategoryImage> {
      const product = sought?.id === id ? sought.product : await find(query => session.first(query), id);
      if (product !== undefined) {
        const query = sql<Shower>`select id, document from products
          where id = ${product} ${dialect.forUpdate}`;
        const image = findImage(await session.first(query.compile(build)), id);
        if (image !== undefined) return image;
      }
      throw createFieldError('imageId', 'unknown', `must be the id of an image of a product, not ${id}`);
    },
  };
}

function findImage(product: Shower | undefined, id: number): CategoryImage | undefined {
  if (product === undefined) return undefined;
  const image = storedProduct.membersOf(product.document).images.find(one => one.id === id);
  return image && { image_id: id, image_product_id: product.id, image_url: image.url };
}

interface Named {
  readonly id: number;
}

/** @returns a function that takes images that a product has lost off the categories that are shown with them */
export function createCategoryImageRemover(database: Database, outbox: Outbox) {
  const { build } = database;
  const writer = createCategoryWriter(database, outbox);
  return async (
    session: Transaction,
    productId: number,
    { before: had, after: has }: { readonly before: readonly Named[]; readonly after: readonly Named[] },
    cause: Cause,
  ): Promise<void> => {
    const kept = new Set(has.map(({ id }) => id));
    if (had.every(({ id }) => kept.has(id))) return;
    const query = writer.ofImagesOf({ productId });
    for (const before of await session.all(query)) {
      if (before.image_id !== null && kept.has(before.image_id)) continue;
      const at = computeChangeMoment(cause.at, Math.max(before.updated_at, before.path_at));
      const after = { ...before, ...noImage, updated_at: at };
      const { id } = before;
      await session.run(
        build
          .updateTable('categories')
          .set({ ...noImage, updated_at: at })
          .where('id', '=', id)
          .compile(),
      );
      await writer.record(session, 'updated', before, after, cause);
    }
  };
}
