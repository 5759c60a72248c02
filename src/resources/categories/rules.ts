/** Rules for the place of a category in the tree. */
import { buildErrorDetail, createFieldError, HttpError } from '../../http/errors.ts';
import { deepest, maxPathBytes, splitPath } from '../../storage/categories/names.ts';
import type { StoredCategory } from './row.ts';

/**
 * @param moved the category to be moved below `parent`; undefined for a new one
 * @param levels the number of levels of the category and its descendants
 * @throws HttpError 400 naming parentId
 */
export function requirePlace(
  parentId: number,
  parent: StoredCategory | undefined,
  moved: StoredCategory | undefined,
  levels: number,
): StoredCategory {
  if (parent === undefined) throw createFieldError('parentId', 'exists', `there is no category ${parentId}`);
  if (parent.id === moved?.id)
    throw createFieldError(
      'parentId',
      'cycle',
      `must not be ${parentId}: a category cannot be its own parent`,
    );
  if (moved !== undefined && parent.path.startsWith(`${moved.path} > `))
    throw createFieldError(
      'parentId',
      'cycle',
      `must not be ${parentId}: "${parent.path}" is below this category`,
    );
  const deep = parent.depth + levels;
  if (deep > deepest) {
    const message = `must not be ${parentId}: "${parent.path}" would then have categories down to level ${deep}, and ${deepest} levels are allowed`;
    throw createFieldError('parentId', 'levels', message);
  }
  return parent;
}

/**
 * @param moved the category that gets this path; undefined for a new one
 * @param bytesBelow the bytes of the longest path of a descendant, as it is now
 * @throws HttpError 400 naming what makes the path longer
 */
export function requirePathSize(path: string, moved: StoredCategory | undefined, bytesBelow: number): void {
  const former = moved === undefined ? 0 : Buffer.byteLength(moved.path);
  const size = Buffer.byteLength(path);
  const bytes = size + Math.max(0, bytesBelow - former);
  // A path that is not longer than before is accepted: the embedded database may hold such paths from before this rule.
  if (bytes <= maxPathBytes || size <= former) return;
  const field = splitPath(path).at(-1) === moved?.name ? 'parentId' : 'name';
  const message = `makes a path of ${bytes} bytes in UTF-8, and ${maxPathBytes} are allowed`;
  throw createFieldError(field, 'maxBytes', message);
}

/** The error for a name that a sibling already has. */
export function createNameTakenError(
  name: string,
  { id, path }: Pick<StoredCategory, 'id' | 'path'>,
): HttpError {
  const message = `the category ${id}, "${path}", already has this name`;
  return new HttpError('DUPLICATE', {
    message: `name: "${name}" must be unique among the categories of one parent: ${message}`,
    details: [buildErrorDetail(['name'], 'unique', message)],
  });
}

/** @param content what prevents the deletion */
export function createNotEmptyError(content: {
  readonly children: number;
  readonly products: number;
}): HttpError {
  const found = [
    ['children', content.children, content.children === 1 ? 'category' : 'categories', 'directly below it'],
    ['products', content.products, content.products === 1 ? 'product' : 'products', 'in it'],
  ] as const;
  const details = found.flatMap(([field, count, what, where]) =>
    count === 0
      ? []
      : [buildErrorDetail([field], 'empty', `there ${count === 1 ? 'is' : 'are'} ${count} ${what} ${where}`)],
  );
  const reasons = details.map(({ message }) => message).join(' and ');
  return new HttpError('CATEGORY_NOT_EMPTY', {
    message: `The category is not empty: ${reasons}. Move them first; nothing was deleted.`,
    details,
  });
}
