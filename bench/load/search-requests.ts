/** Search requests for words of the synthetic products. */
import { productNumber } from '../data/catalog-data.ts';
import type { Random } from './random.ts';

interface Catalog {
  /** The number of products. */
  readonly size: number;
}

/** A number from a name: some ten of a million products contain it, and nearly every request has another one. */
export function rareWord(draw: Random, { size }: Catalog): string {
  const { name } = productNumber(draw.integer(1, size)).fields;
  return `/v1/search?q=${name.split(' ').at(-1)}`;
}

/** A word of a product, which up to all products share, or (half of the time) a rare one. */
export function oneWord(draw: Random, target: Catalog): string {
  if (draw.integer(0, 1) === 0) return rareWord(draw, target);
  const { name, description } = productNumber(draw.integer(1, target.size)).fields;
  const words: string[] = `${name} ${description ?? ''}`.match(/[a-z]+/g) ?? [];
  return `/v1/search?q=${draw.pick([words[0] ?? 'lamp', ...words])}`;
}

/** Two words, of one in eight and one in ten products, and a number of one in a thousand. */
export function threeWords(draw: Random, { size }: Catalog): string {
  const { name, description } = productNumber(draw.integer(1, size)).fields;
  const model = /model (\d+)/.exec(description ?? '')?.[1] ?? '1';
  return `/v1/search?q=${[...name.split(' ').slice(0, 2), model].join('+')}`;
}

/** The beginning of one or two words, as a customer types them: others have typed the same before. */
export function typing(draw: Random, { size }: Catalog): string {
  const words = productNumber(draw.integer(1, size)).fields.name.split(' ').slice(0, 2).join('+');
  return `/v1/search/suggest?q=${words.slice(0, draw.integer(2, words.length)).replace(/\+$/, '')}`;
}

/** A name typed almost to its end: few of these have been requested before. */
export function typingNames(draw: Random, { size }: Catalog): string {
  const name = productNumber(draw.integer(1, size)).fields.name.replaceAll(' ', '+');
  return `/v1/search/suggest?q=${name.slice(0, name.length - draw.integer(0, 3)).replace(/\+$/, '')}`;
}
