/** What hits show: only what their own address shows, always the current state, and no word of deleted documents. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { searchTypes } from '../../../src/storage/search/index.ts';
import { placeOrder } from '../../support/data/orders.ts';
import { addKey } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

interface Hit {
  readonly type: string;
  readonly id: number;
  readonly title: string;
  readonly snippet: string;
  readonly url: string;
}
type Headers = Readonly<Record<string, string>>;

/** Adds one of each type, all with the words `quartz` and `lantern`; only their owners contain `Test user`. */
async function withOneOfEach(service: TestService): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  const texts = {
    description: 'Quartz, & a <lantern>.',
    category: 'quartz',
    tags: ['lantern', 'b'],
    sku: 'QL-1',
  };
  const { order, product } = await placeOrder(service, { product: { name: 'Quartz lantern', ...texts } });
  paths.set('product', `/v1/products/${product.id}`);
  paths.set('order', `/v1/orders/${order.id}`);
  const written = { title: 'Quartz lantern', body: 'Of quartz, “a” lantern · and more.' };
  const make = async (type: string, path: string, body: object, as: 'admin' | 'editor') => {
    const made = await call(service, { method: 'POST', path, as, body });
    expect(made.status).toBe(201);
    paths.set(type, `${path}/${made.body.id}`);
  };
  await make('article', '/v1/articles', { ...written, tags: ['quartz', 'lantern'] }, 'editor');
  await make('post', '/v1/posts', written, 'editor');
  const user = { name: 'Quartz Lantern', email: 'quartz.lantern@shop.example', role: 'user' };
  await make('user', '/v1/users', user, 'admin');
  return paths;
}

const keptWords = async ({ database }: TestService): Promise<string[]> => {
  const query = sql<{ word: string }>`select distinct word from search_spellings`;
  return (await database.read.all(query.compile(database.build))).map(({ word }) => word).sort();
};

const unescaped = (html: string) =>
  html
    .replaceAll(/<\/?mark>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');

/** All texts and numbers in a representation. */
const valuesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(valuesOf)
    : value === null
      ? []
      : [String(value)];

describeOnDatabases('contents of hits on %s', kind => {
  let service: TestService;
  let paths: Map<string, string>;
  beforeAll(async () => {
    service = await startTestService(kind);
    paths = await withOneOfEach(service);
  });
  afterAll(() => service.stop());

  const addSearchKey = (...scopes: string[]): Promise<Headers> => addKey(service, 'search:read', ...scopes);
  const hitsOf = async (query: string, headers: Headers): Promise<Hit[]> => {
    const found = await call(service, { path: `/v1/search?q=${encodeURIComponent(query)}`, headers });
    expect(found.status).toBe(200);
    return found.body.data;
  };
  const token = (role: 'admin' | 'editor' | 'user'): Headers => ({
    Authorization: `Bearer ${service.tokens[role]}`,
  });

  test('a hit shows only what the caller’s own GET of it shows, for every type and kind of caller', async () => {
    const content = ['product', 'article', 'post'];
    const callers: [string, Headers, string[]][] = [
      ['admin', token('admin'), [...content, 'order', 'user']],
      ['editor', token('editor'), [...content, 'order']],
      ['user', token('user'), content],
      ['key for nothing', await addSearchKey(), []],
      ['key for products', await addSearchKey('products:read'), ['product']],
      ['key for content', await addSearchKey('content:read'), ['article', 'post']],
      ['key for orders', await addSearchKey('orders:read'), ['order']],
      ['key for users', await addSearchKey('users:read'), ['user']],
      ['key for orders and users', await addSearchKey('orders:read', 'users:read'), ['order', 'user']],
    ];
    for (const [name, headers, types] of callers) {
      const found = new Set<string>();
      for (const query of [
        'quartz',
        'lantern',
        'quartz lan',
        'lantrn',
        'ql',
        'b',
        'order',
        'test',
        'example',
      ]) {
        for (const { type, title, snippet, url } of await hitsOf(query, headers)) {
          found.add(type);
          const own = await call(service, { path: new URL(url).pathname, headers });
          expect([name, url, own.status]).toEqual([name, url, 200]);
          const shown = valuesOf(own.body).map(text => text.replaceAll(' · ', '\n'));
          const parts = [
            ...title.replace(/^Order (?=\d+$)/, '').split(' · '),
            ...unescaped(snippet).split(' · '),
          ]
            .flatMap(part => part.split(', '))
            .map(part => part.replace(/^(…|Order (?=\d+$))|…$/g, ''));
          for (const part of parts)
            expect([name, url, part, shown.some(text => text.includes(part))]).toEqual([
              name,
              url,
              part,
              true,
            ]);
        }
      }
      expect([name, [...found].sort()]).toEqual([name, types.toSorted()]);
    }
  });

  test('an order is not found by its customer', async () => {
    for (const headers of [token('admin'), token('editor'), await addSearchKey('orders:read')]) {
      for (const query of ['test user', 'user@test.example', 'test', 'tset']) {
        const types = (await hitsOf(query, headers)).map(({ type }) => type);
        expect(types).not.toContain('order');
      }
    }
  });

  test('a change that keeps the words is shown at once, by every replica, with another entity tag', async () => {
    const replica = await service.replica();
    const changes: Record<string, readonly object[]> = {
      product: [
        { name: 'QUARTZ lantern!' },
        { description: 'QUARTZ and a lantern?' },
        { tags: ['lantern', 'B'] },
      ],
      article: [
        { title: 'QUARTZ lantern!' },
        { body: 'Of QUARTZ (a) lantern and more' },
        { tags: ['LANTERN', 'quartz'] },
      ],
      post: [{ title: 'QUARTZ lantern!' }, { body: 'OF quartz; a lantern and more' }],
      user: [{ name: 'QUARTZ lantern' }, { email: 'quartz-LANTERN@shop.example' }],
    };
    const changed = searchTypes.filter(type => type !== 'order');
    expect(Object.keys(changes).sort()).toEqual(changed.toSorted());
    for (const type of changed) {
      for (const change of changes[type] ?? []) {
        const path = paths.get(type) ?? '';
        const search = `/v1/search?q=quartz+lantern&type=${type}`;
        const before = await Promise.all(
          [service, replica].map(each => call(each, { path: search, as: 'admin' })),
        );
        const patch = { method: 'PATCH', path, as: 'admin', body: change } as const;
        expect((await call(service, patch)).status).toBe(200);
        // A replica with empty caches shows the true state.
        const fresh = await service.replica();
        const expected = (await call(fresh, { path: search, as: 'admin' })).body.data;
        await fresh.stop();
        for (const [index, each] of [service, replica].entries()) {
          const after = await call(each, { path: search, as: 'admin' });
          const strip = (hits: Hit[]) =>
            hits.map(({ url, ...hit }) => ({ ...hit, at: new URL(url).pathname }));
          expect([type, change, strip(after.body.data)]).toEqual([type, change, strip(expected)]);
          const isShown = after.text !== before[index]?.text;
          expect([type, change, after.headers.get('ETag') !== before[index]?.headers.get('ETag')]).toEqual([
            type,
            change,
            isShown,
          ]);
        }
      }
    }
  });

  test('words are kept while a document has them, and words of users are never kept', async () => {
    const make = async (path: string, body: object) => {
      const made = await call(service, { method: 'POST', path, as: 'admin', body });
      expect(made.status).toBe(201);
      return `${path}/${made.body.id}`;
    };
    const change = async (method: string, path: string, body?: object) => {
      const done = await call(service, { method, path, as: 'admin', ...(body && { body }) });
      expect(done.status).toBeLessThan(300);
    };
    const before = await keptWords(service);
    const post = await make('/v1/posts', { title: 'Zephyr wind', body: 'Mistral' });
    const article = await make('/v1/articles', { title: 'Zephyr', body: 'Sirocco', tags: ['bora'] });
    const product = await make('/v1/products', { name: 'Zephyr fan', price: 1 });
    const person = await make('/v1/users', {
      name: 'Sirius Black',
      email: 'sirius@shop.example',
      role: 'user',
    });
    expect((await keptWords(service)).filter(word => !before.includes(word))).toEqual([
      'bora',
      'fan',
      'mistral',
      'sirocco',
      'wind',
      'zephyr',
    ]);
    await change('DELETE', product);
    await change('PATCH', post, { title: 'Calm', body: 'Mistral' });
    expect((await keptWords(service)).filter(word => !before.includes(word))).toEqual([
      'bora',
      'calm',
      'mistral',
      'sirocco',
      'zephyr',
    ]);
    const misspelt = await hitsOf('zehpyr', token('user'));
    expect(misspelt.map(({ type }) => type)).toEqual(['article']);
    await change('DELETE', article);
    await change('DELETE', post);
    await change('DELETE', person);
    expect(await keptWords(service)).toEqual(before);
  });

  test('many changes of names leave no unused word behind', async () => {
    const before = await keptWords(service);
    const letters = (number: number) =>
      String(number).replaceAll(/\d/g, digit => 'abcdefghij'[Number(digit)] ?? '');
    const rename = async (path: string, body: object) => {
      const done = await call(service, { method: 'PATCH', path, as: 'admin', body });
      expect(done.status).toBe(200);
    };
    const [user, post] = [paths.get('user') ?? '', paths.get('post') ?? ''];
    // A thousand changes; fewer where each waits for the one before to release the row.
    for (let start = 0; start < (kind === 'sqlite' ? 500 : 100); start += 50) {
      const some = Array.from({ length: 50 }, (_, index) => letters(start + index));
      await Promise.all(
        some.flatMap(word => [
          rename(user, { name: `name${word} other${word}` }),
          rename(post, { title: `title${word} head${word}` }),
        ]),
      );
    }
    const last = (await call(service, { path: post, as: 'admin' })).body.title.split(' ');
    expect((await keptWords(service)).filter(word => !before.includes(word))).toEqual(last.sort());
    const rows = sql<{ total: number }>`select cast(count(*) as integer) as total from search_spellings`;
    const { database } = service;
    const total = (await database.read.first(rows.compile(database.build)))?.total ?? 0;
    expect(total).toBeLessThan(1000);
  });
});
