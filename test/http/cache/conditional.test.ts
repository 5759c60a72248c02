/** Conditional requests (RFC 9110 §13): the whole precedence table, for reading and for writing. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf, read } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** `E` stands for the current entity tag, with quotes; `@0` for the last change, `@-1` and `@+1` for a second off. */
type Conditions = Readonly<Record<string, string>>;

/** For each condition, the status of a GET and of a write. */
const table: [name: string, conditions: Conditions, reading: number, writing: number][] = [
  ['no condition', {}, 200, 200],
  ['If-Match: the tag', { 'If-Match': 'E' }, 200, 200],
  ['If-Match: *', { 'If-Match': '*' }, 200, 200],
  ['If-Match: another', { 'If-Match': '"other"' }, 412, 412],
  ['If-Match: a list with it', { 'If-Match': '"other", E' }, 200, 200],
  ['If-Match: a list with it, without spaces', { 'If-Match': '"a,b",E,"c"' }, 200, 200],
  ['If-Match: a list without it', { 'If-Match': '"other", "another"' }, 412, 412],
  ['If-Match: the tag as weak', { 'If-Match': 'W/E' }, 412, 412],
  ['If-Match: a list of it as weak and another', { 'If-Match': 'W/E, "other"' }, 412, 412],
  ['If-Match: the tag of a compressed answer', { 'If-Match': 'E-gzip' }, 412, 200],
  ['If-Match: the tag without quotes', { 'If-Match': 'bare' }, 412, 412],
  ['If-Match: a tag that contains it', { 'If-Match': '"xE"' }, 412, 412],
  ['If-Match: nothing', { 'If-Match': '' }, 412, 412],
  ['If-Unmodified-Since: the change', { 'If-Unmodified-Since': '@0' }, 200, 200],
  ['If-Unmodified-Since: later', { 'If-Unmodified-Since': '@+1' }, 200, 200],
  ['If-Unmodified-Since: earlier', { 'If-Unmodified-Since': '@-1' }, 412, 412],
  ['If-Unmodified-Since: no date', { 'If-Unmodified-Since': 'yesterday' }, 200, 200],
  [
    'If-Match true makes If-Unmodified-Since count for nothing',
    { 'If-Match': 'E', 'If-Unmodified-Since': '@-1' },
    200,
    200,
  ],
  [
    'If-Match false, If-Unmodified-Since true',
    { 'If-Match': '"other"', 'If-Unmodified-Since': '@0' },
    412,
    412,
  ],
  ['If-None-Match: the tag', { 'If-None-Match': 'E' }, 304, 412],
  ['If-None-Match: the tag as weak', { 'If-None-Match': 'W/E' }, 304, 412],
  ['If-None-Match: *', { 'If-None-Match': '*' }, 304, 412],
  ['If-None-Match: another', { 'If-None-Match': '"other"' }, 200, 200],
  ['If-None-Match: a list with it', { 'If-None-Match': '"other", W/"x", E' }, 304, 412],
  ['If-None-Match: the tag of a compressed answer', { 'If-None-Match': 'E-br' }, 200, 412],
  ['If-Modified-Since: the change', { 'If-Modified-Since': '@0' }, 304, 200],
  ['If-Modified-Since: later', { 'If-Modified-Since': '@+1' }, 304, 200],
  ['If-Modified-Since: earlier', { 'If-Modified-Since': '@-1' }, 200, 200],
  ['If-Modified-Since: no date', { 'If-Modified-Since': '2026' }, 200, 200],
  ['If-Modified-Since: a number', { 'If-Modified-Since': '4000000000' }, 200, 200],
  [
    'If-None-Match makes If-Modified-Since count for nothing',
    { 'If-None-Match': '"other"', 'If-Modified-Since': '@0' },
    200,
    200,
  ],
  [
    'If-None-Match true, If-Modified-Since false',
    { 'If-None-Match': 'E', 'If-Modified-Since': '@-1' },
    304,
    412,
  ],
  ['If-Match true, then If-None-Match', { 'If-Match': 'E', 'If-None-Match': 'E' }, 304, 412],
  ['If-Match false before If-None-Match', { 'If-Match': '"other"', 'If-None-Match': 'E' }, 412, 412],
  [
    'If-Unmodified-Since true, then If-Modified-Since',
    { 'If-Unmodified-Since': '@0', 'If-Modified-Since': '@0' },
    304,
    200,
  ],
];

function headersFor(conditions: Conditions, etag: string, lastModified: string): Record<string, string> {
  const opaque = etag.slice(1, -1);
  const resolved = Object.entries(conditions).map(([name, value]) => {
    if (value.startsWith('@')) {
      const moment = Date.parse(lastModified) + Number(value.slice(1)) * 1000;
      return [name, new Date(moment).toUTCString()];
    }
    if (value === 'bare') return [name, opaque];
    return [
      name,
      value.replace(/E(-\w+)?$|E(?=")|E(?=,)/, (_, suffix = '') =>
        value.includes('"xE"') ? opaque : `"${opaque}${suffix}"`,
      ),
    ];
  });
  return Object.fromEntries(resolved);
}

describeOnDatabases('conditional requests on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(table)('%s', async (name, conditions, reading, writing) => {
    const fresh = async () => {
      const product = await addProduct(service, { description: name });
      service.clock.advance(1000);
      const { headers } = await read(service, product);
      const path = pathOf(product);
      return {
        path,
        headers: headersFor(conditions, headers.get('ETag') ?? '', headers.get('Last-Modified') ?? ''),
      };
    };
    for (const method of ['GET', 'HEAD']) {
      const response = await play(service, { name, method, ...(await fresh()), as: 'user', status: reading });
      if (reading === 304) expect(response.headers.get('ETag')).toMatch(/^"[\x21\x23-\x7e]+"$/);
      if (reading === 412 && method === 'GET') expect(response.body.error).toBe('PRECONDITION_FAILED');
    }
    const body = { name: 'Changed', price: 1 };
    for (const method of ['PUT', 'PATCH'])
      await play(service, { name, method, ...(await fresh()), as: 'editor', body, status: writing });
    const status = writing === 200 ? 204 : writing;
    await play(service, { name, method: 'DELETE', ...(await fresh()), as: 'editor', status });
  });

  test.each([
    ['If-Match', 'W/E', 'weak entity tag'],
    ['If-Match', 'bare', 'names no entity tag'],
    ['If-Match', '', 'names no entity tag'],
    ['If-Match', '"other"', 'has changed since'],
    ['If-None-Match', '*', 'matches the current version of the resource'],
  ])('%s: %s is refused with its reason', async (header, value, reason) => {
    const product = await addProduct(service);
    const { headers } = await read(service, product);
    const sent = headersFor({ [header]: value }, headers.get('ETag') ?? '', '');
    const refused = await call(service, {
      method: 'DELETE',
      path: pathOf(product),
      as: 'editor',
      headers: sent,
    });
    expect([refused.status, refused.body.message]).toEqual([412, expect.stringContaining(reason)]);
  });

  test('a condition on a missing resource is 404, not 412', async () => {
    const path = '/v1/products/2147483647';
    const headers = { 'If-Match': '*' };
    const body = { name: 'x', price: 1 };
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
      await play(service, {
        name: method,
        method,
        path,
        as: 'editor',
        headers,
        status: 404,
        ...(method[0] === 'P' ? { body } : {}),
      });
  });

  test('the entity tag depends only on the representation, not on the caller, the time or the replica', async () => {
    const product = await addProduct(service);
    await using replica = await service.replica();
    const tags = new Set<string | null>();
    for (const as of ['admin', 'editor', 'user'] as const) {
      for (const at of [service, replica]) {
        tags.add((await call(at, { path: pathOf(product), as })).headers.get('ETag'));
        service.clock.advance(1000);
      }
    }
    expect(tags.size).toBe(1);
    const etag = [...tags][0] ?? '';
    const change = {
      method: 'PATCH',
      path: pathOf(product),
      as: 'editor',
      headers: { 'If-Match': etag },
    } as const;
    const changed = await call(replica, { ...change, body: { price: 1 } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('ETag')).not.toBe(etag);
    const lost = await play(service, { name: 'lost update', ...change, body: { price: 2 }, status: 412 });
    expect(lost.headers.get('ETag')).toBeNull();
  });

  /** Requests that would succeed without a condition. */
  const withoutTag: [
    name: string,
    method: string,
    path: string,
    body: unknown,
    whileNothingIsThere: number,
  ][] = [
    ['POST to a collection', 'POST', '/v1/products', { name: 'Lamp', price: 1 }, 201],
    ['many at once', 'PATCH', '/v1/products', { ids: [1], update: { price: 3 } }, 200],
    ['an action', 'POST', '/v1/notifications/mark-all-read', undefined, 412],
  ];
  test.each(withoutTag)(
    '%s is refused under a condition that is not known to hold',
    async (_, method, path, body, forAny) => {
      await addProduct(service);
      const list = await call(service, { path: '/v1/products', as: 'editor' });
      const sent = { method, path, as: 'editor', ...(body === undefined ? {} : { body }) } as const;
      const moment = new Date(service.clock.now()).toUTCString();
      const refused: Record<string, string>[] = [
        { 'If-Match': '"other"' },
        { 'If-Match': list.headers.get('ETag') ?? '' },
        { 'If-Unmodified-Since': moment },
        ...(forAny === 412
          ? [{ 'If-Match': '*' }]
          : [{ 'If-None-Match': '*' }, { 'If-None-Match': '"other"' }]),
      ];
      await writesNothing(service, async () => {
        for (const headers of refused) {
          const { status, body } = await call(service, { ...sent, headers });
          expect([headers, status, body?.error]).toEqual([headers, 412, 'PRECONDITION_FAILED']);
        }
      });
      const done: Record<string, string>[] = [
        { 'If-Unmodified-Since': 'yesterday' },
        { 'If-Modified-Since': moment },
        ...(forAny === 412
          ? [{ 'If-None-Match': '*' }, { 'If-None-Match': '"x"' }]
          : // If-Match decides, and the date does not count.
            [{ 'If-Match': '*' }, { 'If-Match': '*', 'If-Unmodified-Since': moment }]),
      ];
      for (const headers of done) {
        const { status } = await call(service, { ...sent, headers });
        expect([headers, status]).toEqual([headers, forAny === 412 ? 200 : forAny]);
      }
    },
  );

  test('a request refused by its condition stores nothing under its Idempotency-Key', async () => {
    const request = {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name: 'Lamp', price: 1 },
    } as const;
    const headers = { 'Idempotency-Key': 'with a condition'.replaceAll(' ', '-') };
    const refused = await call(service, { ...request, headers: { ...headers, 'If-Match': '"x"' } });
    const made = await call(service, { ...request, headers });
    expect([refused.status, made.status, made.headers.get('Idempotency-Replayed')]).toEqual([412, 201, null]);
  });

  test('of ten writers with the same entity tag only one succeeds', async () => {
    const product = await addProduct(service);
    const headers = { 'If-Match': (await read(service, product)).headers.get('ETag') ?? '' };
    service.clock.advance(1000);
    const writers = Array.from({ length: 10 }, (_, index) =>
      call(service, {
        method: 'PATCH',
        path: pathOf(product),
        as: 'editor',
        headers,
        body: { price: index + 100 },
      }),
    );
    const responses = await Promise.all(writers);
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(9).fill(412)]);
    const winner = responses.find(({ status }) => status === 200);
    expect((await read(service, product)).text).toBe(winner?.text ?? '');
  });

  test('a list has an entity tag, which changes with its items', async () => {
    const path = '/v1/products?sort=price&perPage=5';
    await addProduct(service);
    const first = await call(service, { path, as: 'user' });
    const headers = { 'If-None-Match': first.headers.get('ETag') ?? '' };
    expect((await call(service, { path, as: 'editor', headers })).status).toBe(304);
    await addProduct(service, { price: 0 });
    expect((await call(service, { path, as: 'user', headers })).status).toBe(200);
  });

  test('the three forms of an HTTP date are equivalent', async () => {
    const product = await addProduct(service);
    service.clock.advance(1000);
    const moment = new Date((await read(service, product)).headers.get('Last-Modified') ?? '');
    const [weekday = '', day = '', month = '', year = '', time = ''] = moment
      .toUTCString()
      .replace(',', '')
      .split(' ');
    const long = { Thu: 'Thursday', Fri: 'Friday', Wed: 'Wednesday' }[weekday] ?? '';
    const forms = [
      moment.toUTCString(),
      `${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
      `${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`,
    ];
    for (const form of forms) {
      const headers = { 'If-Modified-Since': form };
      expect([form, (await call(service, { path: pathOf(product), as: 'user', headers })).status]).toEqual([
        form,
        304,
      ]);
    }
  });
});
