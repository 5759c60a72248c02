/** The image of a category: an image of a product, for as long as the product has it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { png, sendImage } from '../../support/data/images.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { importProducts } from '../../support/samples/imported.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/categories';
const hal = { Accept: 'application/hal+json' };

describeOnDatabases('images of categories on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const link = () => `https://images.example/${crypto.randomUUID()}.jpg`;
  const write = (method: string, address: string, body?: unknown, type = 'application/json') =>
    call(service, {
      ...{ method, path: address, as: 'editor' as const },
      ...(body === undefined ? {} : { headers: { 'Content-Type': type }, body: JSON.stringify(body) }),
    });
  async function add(imageId: number | null) {
    const made = await write('POST', path, { name: crypto.randomUUID(), imageId });
    expect(made.status === 201 ? 201 : made.text).toBe(201);
    return made.body;
  }
  const shown = async (id: number) => {
    const { body } = await call(service, { path: `${path}/${id}`, as: 'user' });
    return [body.imageId, body.image];
  };

  test('a category shows an upload or a link of any product, with its address and a HAL link', async () => {
    const url = link();
    const product = await addProduct(service, { images: [{ url: link() }, { url }] });
    const upload = (await sendImage(service, product, png(9, 9))).body;
    const { images } = (await call(service, { path: `/v1/products/${product.id}`, as: 'user' })).body;
    const category = await add(images[1].id);
    expect([category.imageId, category.image]).toEqual([images[1].id, url]);
    const changed = await write('PATCH', `${path}/${category.id}`, { imageId: upload.id });
    expect([changed.body.imageId, changed.body.image]).toEqual([upload.id, upload.url]);
    const { body } = await call(service, { path: `${path}/${category.id}`, as: 'user', headers: hal });
    const { pathname } = new URL(body._links.image.href);
    expect((await call(service, { path: pathname, as: 'user' })).body.url).toBe(upload.url);
    // Sent back as it was shown, then without the image.
    const whole = (await call(service, { path: `${path}/${category.id}`, as: 'editor' })).body;
    const { updatedAt: _then, ...same } = whole;
    expect((await write('PUT', `${path}/${category.id}`, whole)).body).toMatchObject(same);
    expect((await write('PUT', `${path}/${category.id}`, { name: whole.name })).body).toMatchObject({
      ...{ imageId: null, image: null },
    });
  });

  test('an id that is not an image of a product is refused by name, in every kind of write', async () => {
    const taken = (await add(null)).id;
    const address = `${path}/${taken}`;
    const merge = { 'Content-Type': 'application/merge-patch+json' };
    const operations = { 'Content-Type': 'application/json-patch+json' };
    const refused = { status: 400, problems: [['imageId', 'unknown']] as const, as: 'editor' as const };
    const imageId = 999;
    const all = [
      { name: 'POST', method: 'POST', path, body: { name: crypto.randomUUID(), imageId } },
      { name: 'PUT', method: 'PUT', path: address, body: { name: crypto.randomUUID(), imageId } },
      { name: 'PATCH', method: 'PATCH', path: address, body: { imageId } },
      { name: 'merge', method: 'PATCH', path: address, headers: merge, body: JSON.stringify({ imageId }) },
      {
        ...{ name: 'operations', method: 'PATCH', path: address, headers: operations },
        ...{ status: 422, error: 'PATCH_RESULT_INVALID' },
        body: JSON.stringify([{ op: 'replace', path: '/imageId', value: imageId }]),
      },
    ];
    for (const one of all) {
      const { body } = await play(service, { ...refused, ...one });
      expect(body.details[0].message).toBe('must be the id of an image of a product, not 999');
    }
    // A text that looks like an image does not count as one.
    await addProduct(service, {
      description: '{"id":998,"url":"x"}',
      attributes: { a: '{"id":998,"url":"' },
    });
    await play(service, { ...refused, name: 'text', method: 'PATCH', path: address, body: { imageId: 998 } });
  });

  test('an image is found among the images of very many products, in every kind of write', async () => {
    const plain = Array.from({ length: 10_001 }, (_, index) => ({
      name: 'Plain',
      price: 1,
      sku: `P-${index}`,
    }));
    await importProducts(service, plain);
    const urls = [link(), link()];
    const { images } = await addProduct(service, { images: urls.map(url => ({ url })) });
    const [first, second] = images.map(({ id }) => id);
    const { id } = await add(first ?? 0);
    expect(await shown(id)).toEqual([first, urls[0]]);
    const replace = (name: string, value: unknown) => ({ op: 'replace', path: `/${name}`, value });
    const patch = (...operations: object[]) =>
      write('PATCH', `${path}/${id}`, operations, 'application/json-patch+json');
    await patch({ op: 'test', path: '/imageId', value: first }, replace('imageId', second));
    expect(await shown(id)).toEqual([second, urls[1]]);
    // This image is not looked up in advance.
    await patch(replace('position', first), { op: 'move', from: '/position', path: '/imageId' });
    expect(await shown(id)).toEqual([first, urls[0]]);
  });

  test('an image removed from its product is removed from the category, and only there', async () => {
    const url = link();
    const first = await addProduct(service, { images: [{ url }, { url: link() }] });
    const second = await addProduct(service, { images: [{ url }] });
    const [one, other] = first.images;
    if (one === undefined || other === undefined) throw new Error('the product has not its images');
    const imageId = one.id;
    expect(second.images[0]?.id).toBe(imageId);
    const [category, untouched] = [await add(imageId), await add(other.id)];
    const { etag } = (await call(service, { path: `${path}/${category.id}`, as: 'user' })).headers.toJSON();
    const product = `/v1/products/${first.id}`;
    // A new order, a new alt text, and the loss of the same image by another product change nothing.
    await write('PATCH', product, { images: [{ id: other.id }, { id: imageId, alt: 'Front' }] });
    await write('PATCH', `/v1/products/${second.id}`, { images: [] });
    expect(await shown(category.id)).toEqual([imageId, url]);
    await write('DELETE', `${product}/images/${imageId}`);
    expect(await shown(category.id)).toEqual([null, null]);
    const again = await call(service, {
      ...{ path: `${path}/${category.id}`, as: 'user' as const, headers: { 'If-None-Match': etag ?? '' } },
    });
    expect(again.status).toBe(200);
    const { body } = await call(service, {
      path: `/v1/events?resource=category&resourceId=${category.id}&sort=id&order=desc&limit=1`,
      as: 'admin',
    });
    expect(body.data[0]).toMatchObject({
      ...{ type: 'category.updated', before: { imageId, image: url }, after: { imageId: null, image: null } },
    });
    expect(await shown(untouched.id)).toEqual([other.id, other.url]);
    await write('DELETE', product);
    expect(await shown(untouched.id)).toEqual([null, null]);
  });
});
