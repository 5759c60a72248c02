/** Normalizes and compares the categories of products. */
import { isDeepStrictEqual } from 'node:util';
import type { CategoriesByPath, Categorized } from '../categories/assign.ts';

/** Returns the fields with each further category once and without the main category. */
export function normalizeCategories<Fields extends Categorized>(fields: Fields): Fields {
  const { category, categories } = fields;
  if (categories.length === 0) return fields;
  const further = new Set(categories);
  if (category !== null) further.delete(category);
  return further.size === categories.length ? fields : { ...fields, categories: [...further] };
}

export const hasSamePlaces = (a: Categorized, b: Categorized): boolean =>
  a.category === b.category && isDeepStrictEqual(a.categories, b.categories);

/**
 * The time of a change to a product: not before the last change of one of its paths, which may come from a replica
 * whose clock is ahead.
 */
export function computeMoment(now: number, known: CategoriesByPath | undefined): number {
  let latest = now;
  for (const { path_at } of known?.values() ?? []) if (path_at > latest) latest = path_at;
  return latest;
}
