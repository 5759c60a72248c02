/** Rows of categories and their representation. */
import { toDates } from '../../storage/moments.ts';
import type { Row } from '../../storage/tables.ts';

export type StoredCategory = Row<'categories'>;

export type CategoryImage = Pick<StoredCategory, 'image_id' | 'image_product_id' | 'image_url'>;

export const noImage: CategoryImage = { image_id: null, image_product_id: null, image_url: null };

/** The columns written when a category is created: all except the id. */
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

/** The representation in events: without the number of products, which changes without category events. */
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

/** The representation in responses. */
export function toCategoryRepresentation(row: StoredCategory, productCount: number) {
  const { createdAt, updatedAt, ...members } = toCategory(row);
  return { ...members, productCount, createdAt, updatedAt };
}
