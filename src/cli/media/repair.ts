/**
 * Repairs disagreements between files, rows and products, one image at a time. The service may have changed any of them
 * since they were found, so each is read again.
 */
import { createCause, createCommandOutbox } from '../../events/outbox.ts';
import type { Media } from '../../media/index.ts';
import { ImageError } from '../../media/inspect/image.ts';
import type { PreparedImage } from '../../media/prepare.ts';
import { systemClock } from '../../ports/clock.ts';
import { createImageFiles } from '../../resources/images/files.ts';
import { createImageStore } from '../../resources/images/store.ts';
import { findHash, noteUnused } from '../../resources/products/members/uploads.ts';
import { type LockedProduct, productOf, toProductFields } from '../../resources/products/row.ts';
import { createProductStore } from '../../resources/products/store.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import type { Wrong } from './find.ts';

/** @returns a function that repairs one problem, and returns whether it could */
export function createRepairer(database: Database, media: Media): (wrong: Wrong) => Promise<boolean> {
  const { build, dialect } = database;
  const products = createProductStore(database, createCommandOutbox(database));
  const images = createImageStore(database);
  const files = createImageFiles(database, media, images);

  /** The ids of the products that were found, and of those that are recorded now. */
  async function readProducts(session: Session, { hash, products: ids }: Wrong): Promise<number[]> {
    const noted = build.selectFrom('media_uses').select('product_id').where('hash', '=', hash);
    const recorded = (await session.all(noted.compile())).map(({ product_id }) => product_id);
    return [...new Set([...ids, ...recorded])].sort((a, b) => a - b);
  }

  /**
   * Removes an image from the products that show it, and from the record of them.
   * @returns whether its file is still missing; if it has come back, the remaining products keep the image
   */
  async function removeFromProducts(wrong: Wrong): Promise<boolean> {
    const { hash } = wrong;
    for (const id of await readProducts(database.read, wrong)) {
      if (await media.store.has(hash)) return false;
      await database.write(async session => {
        const before = await products.lock(session, id);
        if (before !== undefined) {
          const product = productOf(before);
          const left = product.images.filter(({ url }) => findHash(url) !== hash);
          const fields = { ...toProductFields(product, before.base_price), images: left };
          await products.update(session, [{ before, fields }], createCause('cli', systemClock.now()));
        }
        await session.run(
          build.deleteFrom('media_uses').where('hash', '=', hash).where('product_id', '=', id).compile(),
        );
      });
    }
    return !(await media.store.has(hash));
  }

  /** Whether each product shows the image, by id; the products are locked until the transaction ends. */
  async function lockUses(session: Transaction, wrong: Wrong): Promise<Map<number, boolean>> {
    const uses = new Map<number, boolean>();
    for (const id of await readProducts(session, wrong)) {
      const product = await products.lock(session, id);
      uses.set(id, product !== undefined && isShown(product, wrong));
    }
    return uses;
  }

  /** Records which products show an image. Those of other products, which are not locked, stay. */
  async function noteUses(session: Transaction, { hash }: Wrong, uses: ReadonlyMap<number, boolean>) {
    for (const [product_id, isUse] of uses) {
      const change = isUse
        ? build
            .insertInto('media_uses')
            .values({ hash, product_id })
            .onConflict(conflict => conflict.columns(['hash', 'product_id']).doNothing())
        : build.deleteFrom('media_uses').where('hash', '=', hash).where('product_id', '=', product_id);
      await session.run(change.compile());
    }
    if (!uses.values().some(isUse => isUse)) await noteUnused(session, build, hash, systemClock.now());
  }

  /** @returns false if a product has begun to show the image */
  function removeRow(hash: string): Promise<boolean> {
    return database.write(async session => {
      const row = build.selectFrom('media').select('hash').where('hash', '=', hash);
      // Locked, so that no product can begin to show it; the next statement sees those that have.
      await session.all(row.modifyEnd(dialect.forUpdate).compile());
      const use = build.selectFrom('media_uses').select('product_id').where('hash', '=', hash).limit(1);
      if ((await session.first(use.compile())) !== undefined) return false;
      await session.run(build.deleteFrom('media').where('hash', '=', hash).compile());
      return true;
    });
  }

  async function addRow(wrong: Wrong): Promise<boolean> {
    const image = await readAgain(wrong.hash);
    if (image === undefined) return false;
    await database.write(async session => {
      const uses = await lockUses(session, wrong);
      await images.add(session, image, systemClock.now());
      await noteUses(session, wrong, uses);
    });
    return true;
  }

  /** Undefined when the file's content does not match its name. */
  async function readAgain(hash: string): Promise<PreparedImage | undefined> {
    const bytes = await media.store.read(hash);
    try {
      const image = bytes === undefined ? undefined : await media.prepare(bytes);
      return image?.hash === hash ? image : undefined;
    } catch (error) {
      if (error instanceof ImageError) return undefined;
      throw error;
    }
  }

  return async wrong => {
    switch (wrong.kind) {
      case 'file without row':
        if (wrong.products.length > 0) return addRow(wrong);
        await files.removeUnused(wrong.hash);
        return true;
      case 'row without file':
      case 'neither':
        // Again if a product has begun to show it in between; never once its file has come back.
        while (await removeFromProducts(wrong)) {
          if (await removeRow(wrong.hash)) break;
        }
        return true;
      case 'uses':
        await database.write(async session => noteUses(session, wrong, await lockUses(session, wrong)));
        return true;
      case 'damaged':
        return false;
    }
  };
}

const isShown = (product: LockedProduct, { hash }: Wrong): boolean =>
  productOf(product).images.some(({ url }) => findHash(url) === hash);
