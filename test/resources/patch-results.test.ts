/** Results of a JSON Patch that break a rule are refused with 422, where other bodies get 400. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { chosen, variantCalls } from '../support/data/variants.ts';
import { call } from '../support/http/http.ts';
import { play } from '../support/http/scenario.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const operations = 'application/json-patch+json';
const merge = 'application/merge-patch+json';

describeOnDatabases('results of patches on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    const body = { key: 'result.watt', type: 'number' };
    await call(service, { method: 'POST', path: '/v1/attributes', as: 'admin', body });
  });
  afterAll(() => service.stop());
  const { add, pathsOf, shirt } = variantCalls(() => service);

  const send = (path: string, type: string, body: unknown, headers = {}) =>
    play(service, {
      ...{ name: type, method: 'PATCH', path, as: 'admin', body },
      ...{ status: type === operations ? 422 : 400, headers: { 'Content-Type': type, ...headers } },
      error: type === operations ? 'PATCH_RESULT_INVALID' : 'VALIDATION_FAILED',
    });
  /** Sends the same change in the three media types and compares the errors. */
  async function refuse(path: string, [member, value]: [string, unknown], pointer: string, code: string) {
    const plain = await send(path, 'application/json', { [member]: value });
    const merged = await send(path, merge, { [member]: value });
    const patched = await send(path, operations, [{ op: 'add', path: `/${member}`, value }]);
    expect(plain.body.details).toMatchObject([{ pointer, code }]);
    expect(merged.body.details).toEqual(plain.body.details);
    expect(patched.body.details).toEqual(plain.body.details);
    expect(patched.body.message).toBe(`${plain.body.message}; nothing was changed`);
  }

  test('of products', async () => {
    const path = pathOf(await addProduct(service));
    await refuse(path, ['price', -1], '#/price', 'minimum');
    await refuse(path, ['attributes', { 'result.watt': 'x' }], '#/attributes/result.watt', 'type');
    await refuse(path, ['images', [{ id: 5 }]], '#/images/0/id', 'unknown');
    const parent = await shirt();
    await add(parent, chosen('M'));
    await refuse(pathOf(parent), ['stock', { onHand: 4 }], '#/stock', 'variants');
  });

  test('of variants, categories and definitions of attributes', async () => {
    const product = await shirt();
    const variant = `${pathsOf(product)}/${(await add(product, chosen('M'))).id}`;
    await refuse(variant, ['imageId', 5], '#/imageId', 'unknown');
    await refuse(variant, ['options', { Size: 'XXL', Colour: 'Red' }], '#/options/Size', 'enum');
    const post = { method: 'POST', as: 'admin' } as const;
    const category = await call(service, { ...post, path: '/v1/categories', body: { name: 'Results' } });
    const ofCategory = `/v1/categories/${category.body.id}`;
    await refuse(ofCategory, ['parentId', category.body.id], '#/parentId', 'cycle');
    await refuse(ofCategory, ['imageId', 5], '#/imageId', 'unknown');
    const body = { key: 'result.size', type: 'choice', choices: ['S'] };
    const definition = await call(service, { ...post, path: '/v1/attributes', body });
    await refuse(`/v1/attributes/${definition.body.id}`, ['type', 'colour'], '#/type', 'enum');
  });

  test('of users and articles', async () => {
    const me = (await call(service, { path: '/v1/me', as: 'admin' })).body;
    const address = 'moved@catalog.example';
    await refuse(`/v1/users/${me.id}`, ['email', address], '#/currentPassword', 'required');
    const article = { title: 'A', body: 'B' };
    const post = { method: 'POST', path: '/v1/articles', as: 'admin', body: article } as const;
    const { id } = (await call(service, post)).body;
    await refuse(`/v1/articles/${id}`, ['title', ''], '#/title', 'blank');
  });

  test('a read-only member with its members in another order is unchanged', async () => {
    const article = {
      method: 'POST',
      path: '/v1/articles',
      as: 'admin',
      body: { title: 'A', body: 'B' },
    } as const;
    const written = (await call(service, article)).body;
    const { author, _links } = written;
    const reverse = (value: object) => Object.fromEntries(Object.entries(value).toReversed());
    const whole = reverse({ ...written, author: reverse(author), _links: reverse(_links), title: 'C' });
    const body = [{ op: 'replace', path: '', value: whole }];
    const patch = { method: 'PATCH', path: `/v1/articles/${written.id}`, as: 'admin' } as const;
    const headers = { 'Content-Type': operations };
    const response = await call(service, { ...patch, headers, body });
    expect([response.status, response.body.title, response.body.author]).toEqual([200, 'C', author]);
    const other = [{ op: 'replace', path: '/author', value: { name: 'X', id: author.id } }];
    await play(service, {
      ...patch,
      headers,
      name: 'other',
      body: other,
      status: 422,
      error: 'PATCH_RESULT_INVALID',
      problems: [['author', 'readOnly']],
    });
    const product = await addProduct(service, {
      images: [{ url: 'https://images.example/a.jpg' }],
      stock: { onHand: 1 },
    });
    const same = [{ op: 'replace', path: '', value: { ...product, stock: reverse(product.stock ?? {}) } }];
    expect((await call(service, { ...patch, path: pathOf(product), headers, body: same })).status).toBe(200);
  });

  test('conflicts, malformed operations and unknown members keep their own errors', async () => {
    const parent = await shirt();
    await add(parent, chosen('M'));
    const path = pathOf(parent);
    const patch = { method: 'PATCH', path, as: 'editor', headers: { 'Content-Type': operations } } as const;
    const inUse = [{ op: 'replace', path: '/options', value: [] }];
    await play(service, { ...patch, name: 'in use', body: inUse, status: 409, error: 'OPTION_IN_USE' });
    const none = [{ op: 'increment', path: '/price' }];
    await play(service, { ...patch, name: 'none', body: none, status: 400, error: 'MALFORMED_PATCH' });
    const strict = { 'Content-Type': operations, Prefer: 'handling=strict' };
    const unknown = [{ op: 'add', path: '/pirce', value: 5 }];
    await play(service, { ...patch, headers: strict, name: 'unknown', body: unknown, status: 400 });
  });
});
