/** How many parts a JSON body may have: larger bodies are refused before they are parsed, and no usual body is. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { type Call, call, type Received } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { processorTime } from '../../support/service/growth.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"m${index}":1`).join(',')}}`;
const elements = (count: number) => `{"ids":[${Array.from({ length: count }, () => '"x"').join(',')}]}`;
const headers = { 'Content-Type': 'application/json' };

describeOnDatabases('JSON bodies of many parts on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const create = (body: string) =>
    call(service, { method: 'POST', path: '/v1/users', as: 'admin', headers, body });
  const patched = (id: number, path: string, prefer: Call['headers'] = {}) =>
    call(service, {
      method: 'PATCH',
      path: `/v1/products/${id}`,
      as: 'editor',
      headers: { 'Content-Type': 'application/json-patch+json', ...prefer },
      body: [{ op: 'remove', path }],
    });

  test('a body with far too many members is refused before it is parsed', async () => {
    const body = members(75_000);
    await create(members(10));
    const responses: Received[] = [];
    const time = await processorTime(async () => responses.push(await create(body)));
    expect(responses.map(({ status, body }) => [status, body.error, body.message])).toEqual([
      [400, 'MALFORMED_JSON', 'The body has more than 10,000 members of objects.'],
    ]);
    expect(time).toBeLessThan(200);
  });

  test('10,000 members and 20,000 elements are parsed, one more is not', async () => {
    expect((await create(members(10_000))).body.error).toBe('VALIDATION_FAILED');
    expect((await create(members(10_001))).body.error).toBe('MALFORMED_JSON');
    const all = (body: string): Promise<Received> =>
      call(service, { method: 'PATCH', path: '/v1/products', as: 'editor', headers, body });
    expect((await all(elements(20_001))).body.error).toBe('VALIDATION_FAILED');
    const { status, body } = await all(elements(20_002));
    expect([status, body.error, body.message]).toEqual([
      400,
      'MALFORMED_JSON',
      'The body has more than 20,000 members and elements.',
    ]);
  });

  test('colons and commas in strings do not count as members or elements', async () => {
    const description = '\\":, '.repeat(3000);
    const made = await addProduct(service, { description });
    expect(made.description).toBe(description);
    expect((await create(JSON.stringify({ email: ':,"\\'.repeat(30_000) }))).body.error).toBe(
      'VALIDATION_FAILED',
    );
  });

  test('the largest bodies that operations allow are accepted', async () => {
    const texts = Array.from({ length: 50 }, (_, index) => `Text ${index}`);
    const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a${index}`, texts]));
    const options = Array.from({ length: 5 }, (_, index) => ({
      name: `Option ${index}`,
      values: Array.from({ length: 100 }, (_, value) => `Value ${value}`),
    }));
    const product = await addProduct(service, { attributes, options, stock: { onHand: 1 } });
    expect(Object.keys(product.attributes)).toHaveLength(100);
    const adjustments = Array.from({ length: 500 }, () => ({ productId: product.id, delta: 1, reason: 'r' }));
    const adjusting: Call = {
      method: 'POST',
      path: '/v1/stock/adjustments',
      as: 'editor',
      body: { adjustments },
    };
    expect((await call(service, adjusting)).status).toBe(200);
    const ids = Array.from({ length: 500 }, (_, index) => product.id + index);
    const changing: Call = {
      method: 'PATCH',
      path: '/v1/products',
      as: 'editor',
      body: { ids, update: { status: 'archived' } },
    };
    expect((await call(service, changing)).body.updated).toBeGreaterThan(0);
  });

  test('a pointer of a JSON Patch has 1,024 characters at most', async () => {
    const { id } = await addProduct(service);
    expect((await patched(id, `/${'x'.repeat(1023)}`)).body.error).toBe('PATCH_PATH_NOT_FOUND');
    for (const prefer of [{}, { Prefer: 'handling=strict' }]) {
      const { status, body } = await patched(id, '/x'.repeat(100_000), prefer);
      expect([status, body.error, body.details[0].message]).toEqual([
        400,
        'MALFORMED_PATCH',
        'Operation 0: "path" must be a JSON Pointer (RFC 6901) of at most 1,024 characters.',
      ]);
    }
  });
});
