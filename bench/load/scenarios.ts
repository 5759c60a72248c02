/** The kinds of requests that are measured. Each varies its requests, so that none is sent all the time. */
import { categories, productNumber } from '../data/catalog-data.ts';
import { type Random, random } from './random.ts';
import { oneWord, rareWord, threeWords, typing, typingNames } from './search-requests.ts';
import { fetchJson, get, send, type Target } from './wire.ts';

export interface Scenario {
  readonly name: string;
  readonly statuses: readonly number[];
  readonly connections: number;
  /** Whether the reference service supports these requests too. */
  readonly reference?: true;
  /** Whether the scenario changes the data; such scenarios run last. */
  readonly writes?: boolean;
  /** Looks up the data that the requests need, and checks that the service responds correctly. */
  prepare(target: Target, token: string): Promise<MakeRequests>;
}

/** @returns a function that makes the bytes of the n-th request of a round */
export type MakeRequests = (round: number, token: string) => (index: number) => Uint8Array;

const connections = 32;
/** Offset of the round numbers of `mixed`, so that it creates other products than `create`. */
const mixedRounds = 1000;
const distinct = 10_000;
const perPage = 20;
const sorts = ['id', 'price', 'name', 'created_at'] as const;
const orders = ['asc', 'desc'] as const;
/** Cursors come from pages of this size, so that they lie deep in the list. */
const cursorPage = 100;
const cursorWalks = 150;

/** Requests for paths that each round draws independently. */
function reading(
  pathOf: (draw: Random, target: Target) => string,
  check: (target: Target, token: string) => Promise<void>,
) {
  return async (target: Target, token: string): Promise<MakeRequests> => {
    await check(target, token);
    return (round, current) => {
      const draw = random(round * 104_729 + 1);
      const requests = Array.from({ length: distinct }, () => get(pathOf(draw, target), current));
      return cycle(requests);
    };
  };
}

function cycle(requests: readonly Uint8Array[]): (index: number) => Uint8Array {
  return index => requests[index % requests.length] ?? new Uint8Array();
}

function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(`The service answered wrong: ${what}`);
}

/** The first page of one of 800 lists: by category, status, sort and order. */
function filteredList(draw: Random): string {
  const status = draw.integer(1, 20) === 1 ? 'archived' : 'active';
  return `/v1/products?category=${draw.pick(categories)}&status=${status}&sort=${draw.pick(sorts)}&order=${draw.pick(orders)}`;
}

function priceRange(draw: Random): string {
  const minimum = draw.integer(100, 80_000) / 100;
  return `/v1/products?category=${draw.pick(categories)}&minPrice=${minimum}&maxPrice=${minimum + 100}&sort=price`;
}

/** Page 1000 or one near it; in smaller catalogs, a page at four fifths of the list. */
function deepPage(draw: Random, { size }: Target): string {
  const middle = Math.min(1000, Math.floor((size / perPage) * 0.8));
  const page = middle + draw.integer(-20, 20);
  return `/v1/products?sort=${draw.pick(sorts)}&order=${draw.pick(orders)}&page=${page}`;
}

async function checkList(target: Target, token: string): Promise<void> {
  const { body } = await fetchJson(target, '/v1/products?category=books&status=active&sort=price', token);
  const prices = body.data?.map(({ price }) => price) ?? [];
  expect(prices.length === perPage, `${prices.length} items`);
  expect(
    prices.every((price, index) => price >= (prices[index - 1] ?? 0)),
    'not in order of price',
  );
  if (target.size > 100_000) return;
  let total = 0;
  for (let number = 1; number <= target.size; number++) {
    const { category, status } = productNumber(number).fields;
    if (category === 'books' && status === 'active') total++;
  }
  expect(body.meta?.total === total, `total ${body.meta?.total}, not ${total}`);
}

async function checkDeepPage(target: Target, token: string): Promise<void> {
  const { body } = await fetchJson(target, deepPage(random(1), target), token);
  expect(body.data?.length === perPage && body.meta?.total === target.size, JSON.stringify(body.meta));
}

async function checkSuggest(target: Target, token: string): Promise<void> {
  const { body } = await fetchJson(target, '/v1/search/suggest?q=waln', token);
  expect(body.words?.includes('walnut') === true, JSON.stringify(body));
}

async function checkSearch(target: Target, token: string): Promise<void> {
  const { body } = await fetchJson(target, '/v1/search?q=daily', token);
  // One product in twenty is archived, and so not found.
  const total = body.meta?.total ?? 0;
  const isMost = total > 0.9 * target.size && total < target.size;
  expect(body.data?.length === perPage && isMost, JSON.stringify(body.meta));
}

async function checkOne(target: Target, token: string): Promise<void> {
  const { body } = await fetchJson(target, `/v1/products/${target.size}`, token);
  expect(body.id === target.size, `id ${body.id}`);
}

/** Requests each path once, and then repeatedly with the entity tag of the first response. */
function revalidating(count: number, pathOf: (draw: Random, target: Target) => string) {
  return async (target: Target, token: string): Promise<MakeRequests> => {
    const draw = random(2);
    const known: { path: string; etag: string }[] = [];
    for (let index = 0; index < count; index++) {
      const path = pathOf(draw, target);
      known.push({ path, etag: (await fetchJson(target, path, token)).etag });
    }
    return (_, current) =>
      cycle(known.map(({ path, etag }) => get(path, current, `If-None-Match: ${etag}\r\n`)));
  };
}

/** Pages at the deeper half of the cursors from a walk through at most half of the list. */
async function cursorPages(target: Target, token: string): Promise<MakeRequests> {
  const list = '/v1/products?status=active&sort=price';
  const pages = Math.min(cursorWalks, Math.floor(target.size / cursorPage / 2));
  const paths: string[] = [];
  let cursor = '';
  for (let page = 0; page < pages; page++) {
    const { body } = await fetchJson(target, `${list}&limit=${cursorPage}${cursor}`, token);
    expect(
      body.data?.length === cursorPage && typeof body.meta?.nextCursor === 'string',
      'a short cursor page',
    );
    cursor = `&cursor=${body.meta?.nextCursor}`;
    paths.push(`${list}&limit=${perPage}${cursor}`);
  }
  const deep = paths.slice(paths.length >> 1);
  return (_, current) => cycle(deep.map(path => get(path, current)));
}

async function creates(target: Target): Promise<MakeRequests> {
  const run = `${process.pid}-${target.port}`;
  return (round, token) => index => {
    const { fields } = productNumber(round * 1_000_003 + index);
    const body = { ...fields, sku: `NEW-${run}-${round}-${index}` };
    return send('POST', '/v1/products', token, JSON.stringify(body));
  };
}

/** Changes the price of a random product. */
function update(draw: Random, target: Target, token: string): Uint8Array {
  return send(
    'PATCH',
    oneOf(draw, target),
    token,
    JSON.stringify({ price: draw.integer(100, 100_000) / 100 }),
  );
}

async function updates(target: Target, token: string): Promise<MakeRequests> {
  await checkOne(target, token);
  return (round, current) => {
    const draw = random(round * 104_729 + 5);
    return () => update(draw, target, current);
  };
}

/** 60 % get a product, 30 % list a category by price, 5 % update, 5 % create; each request is made when it is sent. */
async function mixed(target: Target, token: string): Promise<MakeRequests> {
  await checkList(target, token);
  const create = await creates(target);
  return (round, current) => {
    const draw = random(round * 104_729 + 7);
    const createIn = create(round + mixedRounds, current);
    return index => {
      const kind = draw.integer(1, 100);
      if (kind <= 60) return get(oneOf(draw, target), current);
      if (kind <= 90) return get(`/v1/products?category=${draw.pick(categories)}&sort=price`, current);
      return kind <= 95 ? update(draw, target, current) : createIn(index);
    };
  };
}

/** The user that the token names, read from its claims as any client may. */
function userOf(token: string): string {
  // Boundary: the service's own token.
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    userId: string;
  };
  return claims.userId;
}

/** Orders of one to five products that are not archived. */
function orderBody(draw: Random, { size }: Target): string {
  const items = new Map<number, number>();
  const wanted = draw.integer(1, 5);
  while (items.size < wanted) {
    const productId = draw.integer(1, size);
    if (productNumber(productId).fields.status === 'active') items.set(productId, draw.integer(1, 9));
  }
  return JSON.stringify({ items: [...items].map(([productId, quantity]) => ({ productId, quantity })) });
}

async function orderCreates(target: Target): Promise<MakeRequests> {
  return (round, token) => {
    const draw = random(round * 104_729 + 3);
    const path = `/v1/users/${userOf(token)}/orders`;
    return cycle(Array.from({ length: distinct }, () => send('POST', path, token, orderBody(draw, target))));
  };
}

const placedOrders = 500;

/** Places some orders, then reads them. */
async function orderReads(target: Target, token: string): Promise<MakeRequests> {
  const draw = random(4);
  const paths: string[] = [];
  for (let index = 0; index < placedOrders; index++) {
    const response = await fetch(`http://127.0.0.1:${target.port}/v1/users/${userOf(token)}/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: orderBody(draw, target),
    });
    expect(
      response.status === 201,
      `an order was answered ${response.status}: ${await response.clone().text()}`,
    );
    paths.push(new URL(response.headers.get('location') ?? '').pathname);
  }
  const { body } = await fetchJson(target, paths[0] ?? '', token);
  expect(`/v1/orders/${body.id}` === paths[0], `order ${body.id}`);
  return (_, current) => cycle(paths.map(path => get(path, current)));
}

const oneOf = (draw: Random, { size }: Target) => `/v1/products/${draw.integer(1, size)}`;

export const scenarios: readonly Scenario[] = [
  { name: 'get-one', statuses: [200], connections, reference: true, prepare: reading(oneOf, checkOne) },
  { name: '304', statuses: [304], connections, prepare: revalidating(1000, oneOf) },
  { name: 'list', statuses: [200], connections, reference: true, prepare: reading(filteredList, checkList) },
  { name: 'list-304', statuses: [304], connections, prepare: revalidating(300, filteredList) },
  {
    name: 'list-price-range',
    statuses: [200],
    connections,
    reference: true,
    prepare: reading(priceRange, checkList),
  },
  { name: 'deep-cursor', statuses: [200], connections, prepare: cursorPages },
  { name: 'deep-offset', statuses: [200], connections, prepare: reading(deepPage, checkDeepPage) },
  { name: 'order-read', statuses: [200], connections, writes: true, prepare: orderReads },
  { name: 'search-one-word', statuses: [200], connections, prepare: reading(oneWord, checkSearch) },
  { name: 'search-rare-word', statuses: [200], connections, prepare: reading(rareWord, checkSearch) },
  { name: 'search-three-words', statuses: [200], connections, prepare: reading(threeWords, checkSearch) },
  { name: 'suggest', statuses: [200], connections, prepare: reading(typing, checkSuggest) },
  { name: 'suggest-names', statuses: [200], connections, prepare: reading(typingNames, checkSuggest) },
  { name: 'create', statuses: [201], connections: 64, reference: true, writes: true, prepare: creates },
  { name: 'update', statuses: [200], connections, reference: true, writes: true, prepare: updates },
  { name: 'mixed', statuses: [200, 201], connections, reference: true, writes: true, prepare: mixed },
  { name: 'order-create', statuses: [201], connections: 64, writes: true, prepare: orderCreates },
];
