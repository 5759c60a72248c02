/** Where in the tree a category may be. */
import { buildErrorDetail, createFieldError, HttpError } from '../../http/errors.ts';
import { deepest } from '../../storage/categories/names.ts';
import type { StoredCategory } from './row.ts';

/**
 * @param moved the category that is moved below `parent`; undefined for a new one
 * @param levels how many levels it and what is below it have
 * @throws HttpError 400 that names parentId
 */
export function requirePlace(
  parentId: number,
  parent: StoredCategory | undefined,
  moved: StoredCategory | undefined,
  levels: number,
): StoredCategory {
  if (parent === undefined) throw createFieldError('parentId', 'exists', `there is no category ${parentId}`);
  if (parent.id === moved?.id)
    throw createFieldError('parentId', 'cycle', `must not be ${parentId}: that is this category itself`);
  if (moved !== undefined && parent.path.startsWith(`${moved.path} > `)) {
    throw createFieldError(
      'parentId',
      'cycle',
      `must not be ${parentId}: "${parent.path}" is below this category`,
    );
  }
  const deep = parent.depth + levels;
  if (deep > deepest) {
    const message = `must not be ${parentId}: below "${parent.path}" there would be ${deep} levels of categories, and ${deepest} are allowed`;
    throw createFieldError('parentId', 'levels', message);
  }
  return parent;
}

/** A sibling has the name already. */
export function createNameTakenError(
  name: string,
  { id, path }: Pick<StoredCategory, 'id' | 'path'>,
): HttpError {
  const message = `the category ${id}, "${path}", has this name already`;
  return new HttpError('DUPLICATE', {
    message: `name: "${name}" must be unique among the categories of one parent: ${message}`,
    details: [buildErrorDetail(['name'], 'unique', message)],
  });
}

/** @param content what is in the way of deleting it */
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
