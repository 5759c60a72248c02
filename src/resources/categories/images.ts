/**
 * Images of categories: each is an image of a product. Image ids are unique only within a product, so the product is
 * looked up once, when a category is given the image, and stored with it.
 */
import { type CompiledQuery, sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import { createFieldError } from '../../http/errors.ts';
import { type Database, maxId, type Session, type Transaction } from '../../storage/database.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { type Arguments, prepareQuery } from '../../storage/prepared.ts';
import { takeTurn } from '../../turns/index.ts';
import { storedProduct } from '../products/members/stored.ts';
import { type CategoryImage, noImage } from './row.ts';
import { createCategoryWriter } from './write.ts';

/** An image id, and the first product that has it. */
export interface SoughtImage {
  readonly id: number;
  readonly product: number | undefined;
}

interface Shower {
  readonly id: number;
  readonly document: string;
}

/** The result of searching a range of products. */
interface Part {
  readonly last: number | null;
  readonly product: number | null;
  readonly size: number;
}

/** The number of products that one statement searches: a few milliseconds, after which other work gets a turn. */
const productsAtOnce = 5000;

export function createCategoryImages(database: Pick<Database, 'build' | 'dialect' | 'read' | 'snapshot'>) {
  const { build, dialect } = database;
  const part = prepareQuery<Arguments, Part>(
    build,
    ({ after, written }) => sql`select max(id) as last, cast(count(*) as integer) as size,
        min(case when ${dialect.position(sql`document`, sql`${written}`)} > 0 then id end) as product
      from (select id, document from products where id > ${after} order by id limit ${sql.lit(productsAtOnce)}) as part`,
  );

  const shown = prepareQuery<{ id: number }, CategoryImage>(
    build,
    ({ id }) => sql`select image_id, image_product_id, image_url from categories where id = ${id}`,
  );

  /** The first product that has an image with this id; reads products in order until one has it. */
  async function find(
    read: (query: CompiledQuery<Part>) => Promise<Part | undefined>,
    id: number,
  ): Promise<number | undefined> {
    // As it appears in JSON; within a string, the quotation marks would be escaped.
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
     * Looks for the product in the background: in a large catalog, this takes seconds. The image that a category already
     * shows is not looked for.
     * @param id any value from a request
     */
    async seek(id: unknown, category?: number): Promise<SoughtImage | undefined> {
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || id > maxId) return undefined;
      const row = category === undefined ? undefined : await database.read.first(shown({ id: category }));
      if (row?.image_id === id) return { id, product: row.image_product_id ?? undefined };
      const readInBackground = (query: CompiledQuery<Part>) =>
        database.snapshot(session => session.first(query), { background: true });
      return { id, product: await find(readInBackground, id) };
    },

    /**
     * The image with this id; its product keeps it until the transaction ends.
     * @throws HttpError 400 if no product has it
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

/** @returns a function that removes images that a product has lost from the categories that show them */
export function createCategoryImageRemover(database: Database, outbox: Outbox) {
  const writer = createCategoryWriter(database, outbox);
  return async (
    session: Transaction,
    productId: number,
    lost: ReadonlySet<number>,
    cause: Cause,
  ): Promise<void> => {
    for (const before of await session.all(writer.ofImagesOf({ productId }))) {
      if (before.image_id === null || !lost.has(before.image_id)) continue;
      const at = computeChangeMoment(cause.at, Math.max(before.updated_at, before.path_at));
      const changes = { ...noImage, updated_at: at };
      await writer.update(session, before.id, changes);
      await writer.record(session, 'updated', before, { ...before, ...changes }, cause);
    }
  };
}
