/** Repairs disagreements between files, rows and products, one image at a time. */
import { createCause, createCommandOutbox } from '../../events/outbox.ts';
import type { Media } from '../../media/index.ts';
import { ImageError } from '../../media/inspect/image.ts';
import type { PreparedImage } from '../../media/prepare.ts';
import { systemClock } from '../../ports/clock.ts';
import { createImageStore } from '../../resources/images/store.ts';
import { findHash, noteUnused } from '../../resources/products/members/uploads.ts';
import { productOf, toProductFields } from '../../resources/products/row.ts';
import { createProductStore } from '../../resources/products/store.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { Wrong } from './find.ts';

/** @returns a function that repairs one problem, and returns whether it could */
export function createRepairer(database: Database, media: Media): (wrong: Wrong) => Promise<boolean> {
  const { build } = database;
  const products = createProductStore(database, createCommandOutbox(database));
  const images = createImageStore(database);

  /** Removes an image from the products that show it. */
  async function removeFromProducts({ hash, products: ids }: Wrong): Promise<void> {
    for (const id of ids)
      await database.write(async session => {
        const before = await products.lock(session, id);
        if (before === undefined) return;
        const product = productOf(before);
        const left = product.images.filter(({ url }) => findHash(url) !== hash);
        const fields = { ...toProductFields(product, before.base_price), images: left };
        await products.update(session, [{ before, fields }], createCause('cli', systemClock.now()));
      });
  }

  /** Records which products show an image. */
  async function noteUses(session: Transaction, { hash, products: ids }: Wrong): Promise<void> {
    await session.run(build.deleteFrom('media_uses').where('hash', '=', hash).compile());
    for (const product_id of ids)
      await session.run(build.insertInto('media_uses').values({ hash, product_id }).compile());
    if (ids.length === 0) await noteUnused(session, build, hash, systemClock.now());
  }

  async function removeRow(hash: string): Promise<void> {
    await database.write(async session => {
      await session.run(build.deleteFrom('media_uses').where('hash', '=', hash).compile());
      await session.run(build.deleteFrom('media').where('hash', '=', hash).compile());
    });
  }

  async function addRow(wrong: Wrong): Promise<boolean> {
    const image = await readAgain(wrong.hash);
    if (image === undefined) return false;
    await database.write(async session => {
      await images.add(session, image, systemClock.now());
      await noteUses(session, wrong);
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
        await media.remove(wrong.hash);
        return true;
      case 'row without file':
        await removeFromProducts(wrong);
        await removeRow(wrong.hash);
        return true;
      case 'neither':
        await removeFromProducts(wrong);
        return true;
      case 'uses':
        await database.write(session => noteUses(session, wrong));
        return true;
      case 'damaged':
        return false;
    }
  };
}
