/** Products are found by the current GTINs of their variants. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { chosen, variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** A UPC, and the same code with leading zeros. */
const [upc, ean, long] = ['012345678905', '0012345678905', '00012345678905'];
const other = '4006381333931';

describeOnDatabases('products by the GTINs of their variants on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const { send, pathsOf, shirt, add } = variantCalls(() => service);

  const read = async (path: string) => {
    const { body } = await call(service, { path, as: 'user' });
    expect(body.meta.total).toBe(body.data.length);
    return body;
  };
  const find = async (gtin: string, more = '') =>
    (await read(`/v1/products?gtin=${gtin}${more}`)).data.map(({ id }: Product) => id);

  test('lists and searches find them beside products with that GTIN of their own, until the variant’s changes', async () => {
    const product = await shirt({ name: 'Scanned shirt', price: 20, attributes: { fit: 'slim' } });
    const own = await addProduct(service, { name: 'Scanned socks', price: 5, gtin: upc });
    expect([await find(ean), await find(other)]).toEqual([[own.id], []]);
    const variant = await add(product, { ...chosen('M'), gtin: ean });
    await add(product, { ...chosen('L'), gtin: long });
    const path = `${pathsOf(product)}/${variant.id}`;
    for (const gtin of [upc, ean, long]) expect(await find(gtin)).toEqual([product.id, own.id]);
    expect(await find(upc, '&sort=price')).toEqual([own.id, product.id]);
    expect(await find(upc, '&minPrice=10&status=active')).toEqual([product.id]);
    expect(await find(upc, '&attr.fit=slim')).toEqual([product.id]);
    expect(await find(upc, '&status=archived')).toEqual([]);
    const { meta } = await read(`/v1/products?gtin=${upc}&facets=attr.fit`);
    expect(meta.facets).toEqual({ 'attr.fit': [{ value: 'slim', count: 1 }] });
    const cursor = await call(service, { path: `/v1/products?gtin=${upc}&limit=1`, as: 'user' });
    const next = await call(service, { path: cursor.body.links.next.replace(service.url, ''), as: 'user' });
    expect([cursor, next].map(({ body }) => body.data[0].id)).toEqual([product.id, own.id]);
    const search = async () => (await read(`/v1/search?q=scanned&gtin=${upc}`)).data.length;
    expect(await search()).toBe(2);
    const [first] = (await read(`${pathsOf(product)}?gtin=${long}&sort=id`)).data;
    expect(first.id).toBe(variant.id);
    await send('PATCH', path, { gtin: other });
    expect([await find(upc), await find(other)]).toEqual([[product.id, own.id], [product.id]]);
    for (const { id } of (await read(`${pathsOf(product)}?gtin=${upc}`)).data)
      await send('DELETE', `${pathsOf(product)}/${id}`);
    expect([await find(upc), await search()]).toEqual([[own.id], 1]);
    await using replica = await service.replica();
    const ofReplica = async (gtin: string) =>
      (await call(replica, { path: `/v1/products?gtin=${gtin}`, as: 'user' })).body.meta.total;
    expect(await ofReplica(other)).toBe(1);
    await send('PATCH', path, { gtin: upc });
    expect([await ofReplica(other), await ofReplica(upc)]).toEqual([0, 2]);
    expect(await search()).toBe(2);
    await send('DELETE', pathOf(product));
    expect([await find(upc), await ofReplica(upc)]).toEqual([[own.id], 1]);
  });
});
