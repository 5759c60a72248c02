/** Reads the members of products as the API of a shop gives them. */
import { isObject } from '../../../json-object.ts';

type Members = Readonly<Record<string, unknown>>;

/** The text of a member: empty for null, and for objects and lists. */
export const toCell = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export const getObjects = (value: unknown): readonly Members[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Joins texts to the list of a cell, in which a backslash keeps a comma within a text. */
export const joinCell = (texts: readonly string[]): string =>
  texts
    .filter(text => text !== '')
    .map(text => text.replaceAll(',', '\\,'))
    .join(', ');

/** The names of objects such as `[{"name": "Shoes"}]`, as the list of a cell. */
export const joinNames = (value: unknown): string =>
  joinCell(getObjects(value).map(({ name }) => toCell(name)));

export const hasMembers = (value: Members, names: readonly string[]): boolean =>
  names.every(name => Object.hasOwn(value, name));

/**
 * The products in a record of a file: the record itself, or those of a page such as `{"products": […]}`.
 * @returns undefined if it is neither
 */
export function findProducts(
  record: Members,
  isProduct: (value: Members) => boolean,
): readonly Members[] | undefined {
  if (isProduct(record)) return [record];
  const lists = Object.values(record).filter(Array.isArray);
  const [only, ...others] = lists.map(getObjects);
  return only !== undefined && others.length === 0 && only.length > 0 && only.every(isProduct)
    ? only
    : undefined;
}
