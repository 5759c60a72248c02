/** An API key may read and change what its scopes name. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { addKey } from '../support/data/people.ts';
import { type Call, call } from '../support/http/http.ts';
import { contentsOf } from '../support/service/contents.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('the rights of keys on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const statusOf = async (request: Call) => (await call(service, request)).status;

  test('a key is accepted beside an Authorization header of another scheme, as a proxy may require', async () => {
    const key = await addKey(service, 'products:read');
    for (const Authorization of ['Basic dXNlcjpwYXNz', 'Bearer', ''])
      expect(await statusOf({ path: '/v1/products', headers: { Authorization, ...key } })).toBe(200);
    expect(await statusOf({ path: '/v1/products', headers: { Authorization: 'Bearer x', ...key } })).toBe(
      401,
    );
    expect(await statusOf({ path: '/v1/products', headers: { Authorization: 'Basic dXNlcjpwYXNz' } })).toBe(
      401,
    );
  });

  test('only staff and keys that write products can read stock adjustments', async () => {
    const { id } = await addProduct(service, { stock: { onHand: 5 } });
    const path = '/v1/stock/adjustments';
    const body = { adjustments: [{ productId: id, delta: -1, reason: 'broken by the courier' }] };
    expect(await statusOf({ method: 'POST', path, as: 'editor', body })).toBe(200);
    const refused = await call(service, { path, headers: await addKey(service, 'products:read') });
    expect([refused.status, refused.text.includes('courier')]).toEqual([403, false]);
    const shown = await call(service, { path, headers: await addKey(service, 'products:write') });
    expect([shown.status, shown.text.includes('courier')]).toEqual([200, true]);
    expect([await statusOf({ path, as: 'editor' }), await statusOf({ path, as: 'user' })]).toEqual([
      200, 403,
    ]);
  });

  test('only administrators and keys that write products can write synonyms and definitions of attributes', async () => {
    const writing = await addKey(service, 'products:write');
    const reading = await addKey(service, 'products:read', 'search:read');
    const bodies: Readonly<Record<string, (word: string) => object>> = {
      '/v1/search/synonyms': word => ({ words: [word, `${word}couch`] }),
      '/v1/attributes': word => ({ key: word, label: word, type: 'text' }),
    };
    for (const [path, bodyOf] of Object.entries(bodies)) {
      const send = (word: string, caller: Pick<Call, 'as' | 'headers'>) =>
        statusOf({ method: 'POST', path, body: bodyOf(word), ...caller });
      expect([path, await send('one', { as: 'admin' })]).toEqual([path, 201]);
      expect([path, await send('two', { as: 'editor' })]).toEqual([path, 403]);
      expect([path, await send('three', { headers: writing })]).toEqual([path, 201]);
      expect([path, await send('four', { headers: reading })]).toEqual([path, 403]);
    }
  });

  test('a repeated request for a key returns the same key, which no table contains in plain text', async () => {
    const make = () =>
      call(service, {
        method: 'POST',
        path: '/v1/keys',
        as: 'admin',
        headers: { 'Idempotency-Key': 'the-same' },
        body: { name: 'Import', scopes: ['products:read'] },
      });
    const [first, second] = [await make(), await make()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('Idempotency-Replayed')).toBe('true');
    expect((await contentsOf(service)).filter(row => row.includes(first.body.key))).toEqual([]);
  });
});
