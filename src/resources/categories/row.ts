/** A category as a row, and what is shown of it. */
import { toDates } from '../../storage/moments.ts';
import type { Row } from '../../storage/tables.ts';

/** A category as it is stored. */
export type StoredCategory = Row<'categories'>;

/** An image of a product, as a category has it. */
export type CategoryImage = Pick<StoredCategory, 'image_id' | 'image_product_id' | 'image_url'>;

export const noImage: CategoryImage = { image_id: null, image_product_id: null, image_url: null };

/** The columns that are written when a category is made: all but the id. */
export const categoryColumns = [
  'parent_id',
  'name',
  'slug',
  'path',
  'depth',
  'description',
  'position',
  'image_id',
  'image_product_id',
  'image_url',
  'created_at',
  'updated_at',
  'path_at',
] as const satisfies readonly (keyof StoredCategory)[];

/** What events show: the representation without the number of products, which has no events of its own. */
export function toCategory(row: StoredCategory) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    path: row.path,
    parentId: row.parent_id,
    position: row.position,
    description: row.description,
    imageId: row.image_id,
    image: row.image_url,
    ...toDates(row),
  };
}

/** The representation. */
export function toCategoryRepresentation(row: StoredCategory, productCount: number) {
  const { createdAt, updatedAt, ...members } = toCategory(row);
  return { ...members, productCount, createdAt, updatedAt };
}
