/** Numbers for people, as all commands write them: `1,234 products`. */

export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** @param what in the singular, whose plural has an s */
export const formatQuantity = (count: number, what: string): string =>
  `${formatCount(count)} ${what}${count === 1 ? '' : 's'}`;
