/** The queries of categories. Transactions that change the tree lock it exclusively: see storage/categories/tree.ts. */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Queue } from '../../events/queue.ts';
import { separator } from '../../storage/categories/names.ts';
import { createCategoryTree } from '../../storage/categories/tree.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import type { DefinitionStore } from '../attributes/store.ts';
import { createCategoryCounts } from './counts.ts';
import { createCategoryImages, type SoughtImage } from './images.ts';
import { type CategoryImage, categoryColumns, noImage, type StoredCategory } from './row.ts';
import { createNameTakenError, createNotEmptyError, requirePathSize, requirePlace } from './rules.ts';
import type { CategoryFields } from './schema.ts';
import { queueSearchTexts } from './search-texts.ts';
import { createCategoryWriter } from './write.ts';

export type CategoryStore = ReturnType<typeof createCategoryStore>;

export function createCategoryStore(
  database: Database,
  outbox: Outbox,
  queue: Queue,
  definitions: Pick<DefinitionStore, 'renameCategory'>,
) {
  const { build } = database;
  const versions = createCollectionVersions(database);
  const counts = createCategoryCounts(database);
  const writer = createCategoryWriter(database, outbox);
  const images = createCategoryImages(database);

  /** The parent of a category with these fields, and its path. */
  async function resolvePlace(
    session: Session,
    { name, parentId }: Pick<CategoryFields, 'name' | 'parentId'>,
    before: StoredCategory | undefined,
  ) {
    const { levels, bytesBelow } =
      before === undefined ? { levels: 1, bytesBelow: 0 } : await writer.extent(session, before);
    const parent =
      parentId === null
        ? undefined
        : requirePlace(parentId, await writer.find(session, parentId), before, levels);
    const path = parent === undefined ? name : `${parent.path}${separator}${name}`;
    requirePathSize(path, before, bytesBelow);
    const same = await session.first(writer.byPath({ path }));
    if (same !== undefined && same.id !== before?.id) throw createNameTakenError(name, same);
    return { parent, path };
  }

  async function resolveImage(
    session: Session,
    { image_id, image_product_id, image_url }: StoredCategory,
    { imageId }: Pick<CategoryFields, 'imageId'>,
    sought: SoughtImage | undefined,
  ): Promise<CategoryImage> {
    if (imageId === null) return noImage;
    // An unchanged id keeps referring to the image of the same product.
    if (imageId === image_id) return { image_id, image_product_id, image_url };
    return images.require(session, imageId, sought);
  }

  /** Everything that shows a path changes, products included: the version of their caches advances without an event. */
  async function rename(session: Transaction, before: StoredCategory, after: StoredCategory, cause: Cause) {
    await writer.move(session, before, after);
    versions.advance(session, 'products');
    await queueSearchTexts({ build, queue }, session, before, cause.at);
    await definitions.renameCategory(session, before.path, after.path, cause);
  }

  return {
    find: writer.find,
    counts,
    tree: createCategoryTree(database),
    list: createLister<StoredCategory>(database, { table: 'categories', columns: categoryColumns }),

    images,

    /**
     * Like `update` and `remove`, requires a transaction that owns the tree.
     * @param sought the result of `images.seek` for the image that the fields name
     * @throws HttpError 400 for an impossible parent, or an image that no product has
     * @throws HttpError 409 for a name that a sibling has
     * @throws StorageError `unique` if the slug is taken
     */
    async insert(
      session: Transaction,
      { imageId, ...fields }: CategoryFields,
      cause: Cause,
      sought?: SoughtImage,
    ): Promise<StoredCategory> {
      const { parent } = await resolvePlace(session, fields, undefined);
      const image = imageId === null ? noImage : await images.require(session, imageId, sought);
      return writer.create(session, parent, { ...fields, ...image }, cause);
    },

    /** Writes new fields. A rename or move also changes the paths of all descendants. @throws as `insert` */
    async update(
      session: Transaction,
      before: StoredCategory,
      fields: CategoryFields,
      cause: Cause,
      sought?: SoughtImage,
    ): Promise<StoredCategory> {
      const { path, parent } = await resolvePlace(session, fields, before);
      const image = await resolveImage(session, before, fields, sought);
      const isMoved = path !== before.path;
      const at = computeChangeMoment(cause.at, Math.max(before.updated_at, before.path_at));
      const after: StoredCategory = {
        ...before,
        parent_id: fields.parentId,
        name: fields.name,
        slug: fields.slug ?? before.slug,
        path,
        depth: (parent?.depth ?? 0) + 1,
        description: fields.description,
        position: fields.position ?? before.position,
        ...image,
        updated_at: at,
        path_at: isMoved ? at : before.path_at,
      };
      if (isMoved) await rename(session, before, after, cause);
      await writer.update(session, before.id, after);
      await writer.record(session, 'updated', before, after, cause);
      return after;
    },

    /** @throws HttpError 409 if it has products or child categories */
    async remove(session: Transaction, before: StoredCategory, cause: Cause): Promise<void> {
      const children = await writer.children(session, before.id);
      const products = await counts.direct(session, before.id);
      if (children > 0 || products > 0) throw createNotEmptyError({ children, products });
      await writer.remove(session, before.id);
      // These totals are all zero. No other transaction uses them, since this one owns the tree.
      await session.run(build.deleteFrom('product_totals').where('category_id', '=', before.id).compile());
      await writer.record(session, 'deleted', before, undefined, cause);
    },
  };
}
