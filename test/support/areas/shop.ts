/** Writes of a shop, to so few products that many writes touch the same rows, and the paths that show them. */
import {
  type Area,
  categories,
  maxIds,
  options,
  patch,
  post,
  remove,
  sent,
  type Write,
  type Writes,
  words,
} from './area.ts';

const change = (members: (write: Write) => object) => (write: Write) =>
  patch(`/v1/products/${write.id}`, members(write));

/** Ids of products with variants, with stock, and to delete: so few that dependent writes hit the same product. */
const varied = (id: number) => 1 + (id % 3);
const stocked = (id: number) => 4 + (id % 3);
const spare = (id: number) => 10 + id;

const writes: Writes = {
  create: ({ word, category, number }) =>
    post('/v1/products', { name: `${word} ${number}`, price: number, category, tags: [word], options }),
  rename: change(({ word, number }) => ({ name: `${word} ${number}` })),
  price: change(({ number }) => ({ price: number })),
  // Also to categories that do not exist yet.
  move: change(({ category, word, number }) => ({
    category: number > 5 ? `${category} > ${word}` : category,
    categories: number % 2 === 0 ? [] : [word],
  })),
  archive: change(({ isFirst }) => ({ status: isFirst ? 'archived' : 'active' })),
  brand: change(({ word, number }) => ({
    brand: number % 3 === 0 ? null : word,
    attributes: { colour: word },
  })),
  stock: ({ id, number }) =>
    patch(`/v1/products/${stocked(id)}`, { stock: { tracked: true, onHand: number } }),
  several: ({ id, word, number }) =>
    patch('/v1/products', { ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, id], update: { price: number, tags: [word] } }),
  delete: ({ id }) => remove(`/v1/products/${spare(id)}`),
  variant: ({ id, number, isFirst }) =>
    post(`/v1/products/${varied(id)}/variants`, { options: { Size: isFirst ? 'S' : 'M' }, price: number }),
  review: ({ id, word, number }) =>
    post(`/v1/products/${id}/reviews`, { rating: 1 + (number % 5), body: word }),
  category: ({ id, word, number }) => patch(`/v1/categories/${id}`, { name: `${word} ${number}` }),
  article: ({ word, number }) => post('/v1/articles', { title: `${word} ${number}`, body: word }),
  attribute: ({ isFirst, word }) =>
    isFirst
      ? post('/v1/attributes', { key: 'colour', label: word, type: 'text', facet: true })
      : remove('/v1/attributes/1'),
  definition: ({ number, word }) =>
    patch('/v1/attributes/1', number > 6 ? { facet: number === 7 } : { label: word }),
  // The variants follow; new ones with the former option name are refused.
  option: ({ id, isFirst }) =>
    patch(`/v1/products/${varied(id)}`, {
      options: [{ name: isFirst ? 'Size' : 'Length', values: ['S', 'M'] }],
    }),
  variants: ({ id, number }) =>
    patch(`/v1/products/${varied(id)}/variants`, { ids: [number], update: { stock: { onHand: number } } }),
  synonym: ({ word, isFirst }) =>
    isFirst ? post('/v1/search/synonyms', { words: [word, 'lantern'] }) : remove('/v1/search/synonyms/1'),
  // From the only customer; most products have no stock.
  order: ({ id, number, isFirst }) => {
    const items = [{ productId: isFirst ? stocked(id) : id, quantity: 1 + (number % 3) }];
    return post('/v1/users/3/orders', { items }, 'user');
  },
  cancel: ({ id }) => post(`/v1/orders/${id}/cancel`, undefined, 'user'),
  pay: ({ id }) => post(`/v1/orders/${id}/payment`, undefined, 'user'),
  adjust: ({ id, number }) =>
    post('/v1/stock/adjustments', {
      adjustments: [id, id + 1].map(product => ({
        productId: stocked(product),
        delta: number - 4,
        reason: 'count',
      })),
    }),
  replace: ({ id, word, category, number }) => {
    const fields = { name: `${word} ${number}`, price: number, category, options, brand: word };
    return sent('PUT', `/v1/products/${id}`, fields);
  },
  variantPrice: ({ id, number }) =>
    patch(`/v1/products/${varied(id)}/variants/${number}`, { price: number === 1 ? null : number + id }),
  variantGone: ({ id, number }) => remove(`/v1/products/${varied(id)}/variants/${number}`),
  image: ({ id, word }) => post(`/v1/products/${id}/images`, { url: `https://shop.example/${word}.png` }),
  branch: ({ number, word, isFirst }) =>
    post('/v1/categories', { name: word, parentId: isFirst ? null : number }),
  hang: ({ id, number, isFirst }) => patch(`/v1/categories/${id}`, { parentId: isFirst ? null : number }),
  fell: ({ id }) => remove(`/v1/categories/${id}`),
  reviewGone: ({ id }) => remove(`/v1/reviews/${id}`),
};

const ids = Array.from({ length: maxIds }, (_, index) => index + 1);
/** Without suggestions: for a while after a change to everything, these are made without the names in memory. */
const reads: readonly string[] = [
  ...ids.map(id => `/v1/products/${id}`),
  ...[
    'sort=price',
    'sort=price&order=desc&status=active',
    'sort=name',
    'sort=createdAt',
    'limit=5&sort=price',
  ].map(query => `/v1/products?${query}`),
  ...categories.map(category => `/v1/products?category=${encodeURIComponent(category)}&sort=price`),
  ...words.flatMap(word => [
    `/v1/products?tag=${word}`,
    `/v1/products?brand=${word}&sort=name`,
    `/v1/products?name=${word}%20${word.length}`,
    `/v1/search?q=${word}`,
  ]),
  '/v1/products?facets=brand,category,price',
  '/v1/products?available=false',
  '/v1/products?minPrice=3&maxPrice=6&sort=price',
  '/v1/search?q=oak+lamp&facets=category,price',
  '/v1/search?q=lantern',
  ...[1, 2, 3].flatMap(id => [
    `/v1/products/${id}/variants`,
    `/v1/products/${id}/variants/${id}`,
    `/v1/products/${id}/images`,
    `/v1/orders/${id}`,
    `/v1/categories/${id}`,
    `/v1/categories?parentId=${id}`,
    `/v1/products/${id}/reviews`,
  ]),
  '/v1/categories',
  '/v1/attributes',
  '/v1/articles',
  '/v1/search/synonyms',
  '/v1/orders?sort=id',
  '/v1/reviews',
  '/v1/products?attr.colour=oak',
  '/v1/products?attr.colour=red&facets=attr.colour,brand',
  '/v1/products?include=reviews',
  '/v1/events?order=desc&perPage=100',
  '/v1/notifications',
  '/v1/users/3/orders',
  '/v1/invoices',
];

export const shop: Area = { writes, often: ['create', 'create', 'rename', 'move'], reads };
