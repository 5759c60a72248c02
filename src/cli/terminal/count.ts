/** Numbers for people, as all commands write them: `1,234 products`. */

export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** @param what a noun in the singular whose plural is formed with an s */
export const formatQuantity = (count: number, what: string): string =>
  `${formatCount(count)} ${what}${count === 1 ? '' : 's'}`;
