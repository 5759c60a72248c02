/** What searches look for, out of the made-up products. */
import { productNumber } from '../data/catalog-data.ts';
import type { Random } from './random.ts';

interface Catalog {
  /** Products in it. */
  readonly size: number;
}

/** A number out of a name: ten or so of a million products have it, and nearly every request asks for another. */
export function rareWord(draw: Random, { size }: Catalog): string {
  const { name } = productNumber(draw.integer(1, size)).fields;
  return `/v1/search?q=${name.split(' ').at(-1)}`;
}

/** Half of them words that up to every product has, the other half rare ones. */
export function oneWord(draw: Random, target: Catalog): string {
  if (draw.integer(0, 1) === 0) return rareWord(draw, target);
  const { name, description } = productNumber(draw.integer(1, target.size)).fields;
  const words: string[] = `${name} ${description ?? ''}`.match(/[a-z]+/g) ?? [];
  return `/v1/search?q=${draw.pick([words[0] ?? 'lamp', ...words])}`;
}

/** Two words that one in eight and one in ten products have, and a number that one in a thousand has. */
export function threeWords(draw: Random, { size }: Catalog): string {
  const { name, description } = productNumber(draw.integer(1, size)).fields;
  const model = /model (\d+)/.exec(description ?? '')?.[1] ?? '1';
  return `/v1/search?q=${[...name.split(' ').slice(0, 2), model].join('+')}`;
}

/** What a customer has typed so far who means one or two words: others have typed it before. */
export function typing(draw: Random, { size }: Catalog): string {
  const words = productNumber(draw.integer(1, size)).fields.name.split(' ').slice(0, 2).join('+');
  return `/v1/search/suggest?q=${words.slice(0, draw.integer(2, words.length)).replace(/\+$/, '')}`;
}

/** The same while a name is typed to its end: few have been requested before. */
export function typingNames(draw: Random, { size }: Catalog): string {
  const name = productNumber(draw.integer(1, size)).fields.name.replaceAll(' ', '+');
  return `/v1/search/suggest?q=${name.slice(0, name.length - draw.integer(0, 3)).replace(/\+$/, '')}`;
}
