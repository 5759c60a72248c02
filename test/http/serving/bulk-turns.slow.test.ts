/** Requests that read or change many products take turns for all of their work for each product. */
import { expect, spyOn, test } from 'bun:test';
import { userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { countTurns } from '../../support/samples/slow-clock.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService } from '../../support/service/service.ts';

const many = 40;

describeOnDatabases('a bulk change on %s', kind => {
  test('takes turns for the rows of tags and attributes', async () => {
    await using service = await startTestService(kind);
    const post = () =>
      call(service, { method: 'POST', path: '/v1/products', as: 'admin', body: { name: 'Lamp', price: 1 } });
    const ids: number[] = [];
    for (let count = 0; count < many; count++) ids.push((await post()).body.id);
    const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${key}`, true]));
    const patch = (update: object) =>
      call(service, { method: 'PATCH', path: '/v1/products', as: 'admin', body: { ids, update } });
    await patch({ price: 2 });
    const turns = await countTurns(() => patch({ attributes, tags: ['a', 'b'] }));
    // There would be fewer turns without those for rows of tags and attributes.
    expect(turns).toBeGreaterThan(10 * many);
    const found = await call(service, { path: '/v1/products?attr.k7=true&tag=b&perPage=100', as: 'user' });
    expect(found.body.data.length).toBe(many);
  });
});

describeOnDatabases('an order on %s', kind => {
  test('takes a turn for each product that it reads', async () => {
    await using service = await startTestService(kind);
    const items: { productId: number; quantity: number }[] = [];
    for (let count = 0; count < many; count++) {
      const body = { name: `Lamp ${count}`, price: count };
      const { id } = (await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body })).body;
      items.push({ productId: id, quantity: 1 });
    }
    const path = `/v1/users/${await userIdOf(service, 'user')}/orders`;
    const order = () => call(service, { method: 'POST', path, as: 'user', body: { items } });
    await order();
    const turns = await countTurns(async () => {
      const { status, body } = await order();
      expect([status, body.items?.length]).toEqual([201, many]);
    });
    expect(turns).toBeGreaterThanOrEqual(many);
  });
});

describeOnDatabases('a long text that is not plain, on %s', kind => {
  test('takes turns while it is split into its words', async () => {
    await using service = await startTestService(kind);
    const write = async (description: string) => {
      const body = { name: 'Lamp', price: 1, description };
      const { status } = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body });
      expect(status).toBe(201);
    };
    await write('Öl');
    const short = await countTurns(() => write('Öl für'));
    const long = await countTurns(() => write('Öl für '.repeat(10_000)));
    expect([short, long, long > short + 30]).toEqual([short, long, true]);
  });
});

describeOnDatabases('a change of a product with very many texts, on %s', kind => {
  test('takes a turn for each text from which markup is removed', async () => {
    await using service = await startTestService(kind);
    const texts = Array.from({ length: 50 }, (_, index) => `<b>Öl</b> ${index}`);
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    const attributes = Object.fromEntries(keys.map(key => [key, texts]));
    const write = (method: string, path: string, first: string) =>
      call(service, {
        ...{ method, path, as: 'admin' as const },
        body: { name: 'Lamp', price: 1, attributes: { ...attributes, first } },
      });
    const { id } = (await write('POST', '/v1/products', 'Öl')).body;
    const turns = await countTurns(async () => {
      expect((await write('PATCH', `/v1/products/${id}`, 'Für')).status).toBe(200);
    });
    // Splitting each text into words, before and after the change and for searches in memory, takes four of them.
    expect([turns, turns > 6 * keys.length * texts.length]).toEqual([turns, true]);
  });
});

describeOnDatabases('a search on %s', kind => {
  test('takes a turn for each text of a hit that is searched for its words', async () => {
    await using service = await startTestService(kind);
    const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${key}`, 'Öl']));
    for (let count = 0; count < 10; count++)
      await call(service, {
        method: 'POST',
        path: '/v1/products',
        as: 'admin',
        body: { name: 'Lamp', price: count, attributes },
      });
    const search = (query: string) => call(service, { path: `/v1/search?q=lamp&${query}`, as: 'user' });
    await search('perPage=10');
    let found = 0;
    const turns = await countTurns(async () => {
      found = (await search('perPage=11')).body.data.length;
    });
    expect(found).toBe(10);
    expect(turns).toBeGreaterThan(10 * 100);
  });
});

test('a page of long rows on sqlite is read in several turns', async () => {
  await using service = await startTestService('sqlite');
  const text = 'ä'.repeat(6000);
  for (let count = 0; count < many; count++) {
    const write = (path: string, body: object) => call(service, { method: 'POST', path, as: 'admin', body });
    await write('/v1/products', { name: 'Lamp', price: count, description: text });
    await write('/v1/articles', { title: `Article ${count}`, body: text });
    await write('/v1/posts', { title: `Post ${count}`, body: text });
  }
  const read = (path: string) => call(service, { path, as: 'admin' });
  for (const list of [
    `events?perPage=${many}&resource=product&order=desc`,
    `events?limit=${many}&resource=product&sort=createdAt`,
    `events?limit=${many}&resource=product`,
    `articles?perPage=${many}&sort=createdAt`,
    `posts?limit=${many}`,
  ]) {
    const path = `/v1/${list}`;
    await read(path);
    let listed: readonly object[] = [];
    const turns = await countTurns(async () => {
      listed = (await read(path)).body.data;
    });
    const texts = listed.map(item =>
      'body' in item ? item.body : 'after' in item && Object(item.after).description,
    );
    expect([path, texts]).toEqual([path, new Array(many).fill(text)]);
    expect([path, turns, turns > 2 * many + many / 5]).toEqual([path, turns, true]);
  }
});

test('a page of long products on sqlite is read in more turns after another such page', async () => {
  await using service = await startTestService('sqlite');
  for (const category of ['short', 'long'])
    for (let count = 0; count < 32; count++) {
      const body = {
        name: 'Lamp',
        price: 1,
        category,
        description: 'a'.repeat(category === 'long' ? 56_000 : 5),
      };
      await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body });
    }
  // The replica has not cached these products.
  const replica = await service.replica();
  const countSecond = async (category: string) => {
    const read = (page: number) =>
      call(replica, { path: `/v1/products?category=${category}&perPage=16&page=${page}`, as: 'user' });
    await read(1);
    return countTurns(async () => expect((await read(2)).body.data.length).toBe(16));
  };
  const turns = [await countSecond('short'), await countSecond('long')] as const;
  expect([turns, turns[1] >= turns[0] + 3]).toEqual([turns, true]);
});

test('a list of a tree of categories on sqlite takes turns between its statements', async () => {
  await using service = await startTestService('sqlite');
  for (const category of ['Lamps > Old', 'Lamps > New', 'Chairs'])
    await call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'admin',
      body: { name: 'X', price: 1, category },
    });
  const count = (query: string) =>
    countTurns(async () => {
      const { body } = await call(service, { path: `/v1/products?${query}`, as: 'user' });
      expect(body.data).toEqual([]);
    });
  await count('brand=a');
  const turns = [await count('brand=b'), await count('category=Lamps&brand=c')] as const;
  expect([turns, turns[1] >= turns[0] + 2]).toEqual([turns, true]);
});

/**
 * @returns how many conditions on numbers `work` evaluates, each of which takes half of a turn, and the most of them in
 * one turn
 */
async function countTogether(work: () => Promise<unknown>): Promise<{ all: number; together: number }> {
  const evaluated: number[] = [];
  let [turn, isDone] = [0, false];
  const countTurn = () => {
    turn += 1;
    if (!isDone) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  // A condition is written as text before its rows are looked up.
  const original = JSON.stringify;
  const stringify = spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
    if (typeof value === 'object' && value !== null && 'bounds' in value) {
      const end = performance.now() + 6;
      while (performance.now() < end);
      evaluated.push(turn);
    }
    return original(value);
  });
  try {
    await work();
  } finally {
    isDone = true;
    stringify.mockRestore();
  }
  const byTurn = Map.groupBy(evaluated, at => at).values();
  return { all: evaluated.length, together: Math.max(...byTurn.map(({ length }) => length)) };
}

describeOnDatabases('requests that arrive together on %s', kind => {
  test.each([
    ['lists', (price: number) => `/v1/products?attr.colour=red&minPrice=${price}`],
    ['facets', (price: number) => `/v1/products?facets=brand&minPrice=${price}`],
  ])('share no turn for finding their rows: %s', async (_, toPath) => {
    await using service = await startTestService(kind);
    const body = { name: 'Lamp', price: 1, brand: 'Lumen', attributes: { colour: 'red' } };
    await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body });
    const read = (price: number) => call(service, { path: toPath(price), as: 'user' });
    await read(1);
    const { all, together } = await countTogether(async () => {
      const found = await Promise.all(Array.from({ length: many }, (_, count) => read(2 + count)));
      expect(found.map(({ body }) => body.meta.total)).toEqual(found.map(() => 0));
    });
    expect(all).toBeGreaterThanOrEqual(many);
    // Two fill a turn; requests that arrive between turns may add some.
    expect(together).toBeLessThan(many / 4);
  });
});
