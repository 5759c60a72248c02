/** Writes drawn by chance: of all kinds, to a few products, so that many of them meet in the same rows. */
import fc from 'fast-check';
import type { Call } from './http.ts';

export const words = ['lamp', 'lamps', 'oak', 'steel', 'red'] as const;
export const categories = ['Tools', 'Tools > Saws', 'Shoes'] as const;
/** Ids that there may be, at most. */
export const mostIds = 16;

export interface Write {
  readonly kind: keyof typeof writes;
  /** Of a product, category or whatever else is written. */
  readonly id: number;
  readonly word: string;
  readonly category: string;
  readonly number: number;
  readonly isFirst: boolean;
}

export const options = [{ name: 'Size', values: ['S', 'M'] }];
export const post = (path: string, body: unknown): Call => ({ method: 'POST', path, as: 'admin', body });
const patch = (path: string, body: unknown): Call => ({ method: 'PATCH', path, as: 'admin', body });
const remove = (path: string): Call => ({ method: 'DELETE', path, as: 'admin' });
const change = (members: (write: Write) => object) => (write: Write) =>
  patch(`/v1/products/${write.id}`, members(write));

/** Few of these, so that those which depend on each other meet: products with variants, those with stock, those deleted. */
const varied = (id: number) => 1 + (id % 3);
const stocked = (id: number) => 4 + (id % 3);
const spare = (id: number) => 10 + id;

/** Many of them are refused, which changes nothing anywhere. */
const writes = {
  create: ({ word, category, number }: Write) =>
    post('/v1/products', { name: `${word} ${number}`, price: number, category, tags: [word], options }),
  rename: change(({ word, number }) => ({ name: `${word} ${number}` })),
  price: change(({ number }) => ({ price: number })),
  // Also to categories that are not there yet.
  move: change(({ category, word, number }) => ({
    category: number > 5 ? `${category} > ${word}` : category,
    categories: number % 2 === 0 ? [] : [word],
  })),
  archive: change(({ isFirst }) => ({ status: isFirst ? 'archived' : 'active' })),
  brand: change(({ word, number }) => ({
    brand: number % 3 === 0 ? null : word,
    attributes: { colour: word },
  })),
  stock: ({ id, number }: Write) =>
    patch(`/v1/products/${stocked(id)}`, { stock: { tracked: true, onHand: number } }),
  several: ({ id, word, number }: Write) =>
    patch('/v1/products', { ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, id], update: { price: number, tags: [word] } }),
  delete: ({ id }: Write) => remove(`/v1/products/${spare(id)}`),
  variant: ({ id, number, isFirst }: Write) =>
    post(`/v1/products/${varied(id)}/variants`, { options: { Size: isFirst ? 'S' : 'M' }, price: number }),
  review: ({ id, word, number }: Write) =>
    post(`/v1/products/${id}/reviews`, { rating: 1 + (number % 5), body: word }),
  category: ({ id, word, number }: Write) => patch(`/v1/categories/${id}`, { name: `${word} ${number}` }),
  article: ({ word, number }: Write) => post('/v1/articles', { title: `${word} ${number}`, body: word }),
  post: ({ word }: Write) => patch('/v1/posts/1', { body: word }),
  attribute: ({ isFirst, word }: Write) =>
    isFirst
      ? post('/v1/attributes', { key: 'colour', label: word, type: 'text', facet: true })
      : remove('/v1/attributes/1'),
  synonym: ({ word, isFirst }: Write) =>
    isFirst ? post('/v1/search/synonyms', { words: [word, 'lantern'] }) : remove('/v1/search/synonyms/1'),
  // Of the one customer there is; most of the products have no stock.
  order: ({ id, number, isFirst }: Write): Call => ({
    ...post('/v1/users/3/orders', {
      items: [{ productId: isFirst ? stocked(id) : id, quantity: 1 + (number % 3) }],
    }),
    as: 'user',
  }),
  cancel: ({ id }: Write): Call => ({ ...post(`/v1/orders/${id}/cancel`, undefined), as: 'user' }),
  pay: ({ id }: Write): Call => ({ ...post(`/v1/orders/${id}/payment`, undefined), as: 'user' }),
  adjust: ({ id, number }: Write) =>
    post('/v1/stock/adjustments', {
      adjustments: [id, id + 1].map(product => ({
        productId: stocked(product),
        delta: number - 4,
        reason: 'count',
      })),
    }),
  replace: ({ id, word, category, number }: Write): Call => ({
    ...post(`/v1/products/${id}`, {
      name: `${word} ${number}`,
      price: number,
      category,
      options,
      brand: word,
    }),
    method: 'PUT',
  }),
  variantPrice: ({ id, number }: Write) =>
    patch(`/v1/products/${varied(id)}/variants/${number}`, { price: number === 1 ? null : number + id }),
  variantGone: ({ id, number }: Write) => remove(`/v1/products/${varied(id)}/variants/${number}`),
  image: ({ id, word }: Write) =>
    post(`/v1/products/${id}/images`, { url: `https://shop.example/${word}.png` }),
  branch: ({ number, word, isFirst }: Write) =>
    post('/v1/categories', { name: word, parentId: isFirst ? null : number }),
  hang: ({ id, number, isFirst }: Write) =>
    patch(`/v1/categories/${id}`, { parentId: isFirst ? null : number }),
  fell: ({ id }: Write) => remove(`/v1/categories/${id}`),
  reviewGone: ({ id }: Write) => remove(`/v1/reviews/${id}`),
} satisfies Record<string, (write: never) => Call>;

// Boundary: Object.keys types its result as string[]; the table has these keys and no others.
const kinds = Object.keys(writes) as Write['kind'][];

export const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom(...kinds, 'create', 'create', 'rename', 'move'),
  id: fc.integer({ min: 1, max: mostIds }),
  word: fc.constantFrom(...words),
  category: fc.constantFrom(...categories),
  number: fc.integer({ min: 1, max: 9 }),
  isFirst: fc.boolean(),
});

/** The request that makes it. */
// Boundary: each kind makes its request of a write of that kind, which is any.
export const requestOf = (one: Write): Call => writes[one.kind](one as never);
