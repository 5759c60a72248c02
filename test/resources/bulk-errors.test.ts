/** Errors of bulk updates: each points into the body that was sent, and names the item that does not fit. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product } from '../support/data/catalog.ts';
import { chosen, variantCalls } from '../support/data/variants.ts';
import { call } from '../support/http/http.ts';
import { play } from '../support/http/scenario.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('errors of bulk updates on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const body of [
      { key: 'bulk.watt', type: 'number' },
      { key: 'bulk.code', type: 'text', requiredIn: ['Bulk'] },
    ]) {
      const made = await call(service, { method: 'POST', path: '/v1/attributes', as: 'admin', body });
      expect(made.status).toBe(201);
    }
  });
  afterAll(() => service.stop());
  const { add, pathsOf, shirt } = variantCalls(() => service);

  type Named = Pick<Product, 'id'>;
  interface Refusal {
    readonly error: string;
    readonly member: string;
    readonly code: string;
    /** The name of the item that does not fit. */
    readonly of: string;
  }

  /** Sends a bulk update that is refused with one problem in `update`. */
  async function refuse(path: string, all: readonly Named[], update: object, refusal: Refusal) {
    const { error, member, code, of } = refusal;
    const ids = all.map(({ id }) => id);
    const status = error === 'VALIDATION_FAILED' ? 400 : 409;
    const request = { name: of, method: 'PATCH', path, as: 'editor', body: { ids, update } } as const;
    const { body } = await play(service, { ...request, status, error });
    expect(body.details).toHaveLength(1);
    const [detail] = body.details;
    expect(detail).toMatchObject({
      field: `update.${member}`,
      pointer: `#/update/${member.replaceAll(/\.(?!watt|code)/g, '/')}`,
      code,
    });
    expect(body.message).toBe(`${detail.field}: ${detail.message}`);
    expect(detail.message).toContain(of);
  }
  const products = '/v1/products';

  test('name the product whose attribute, image, stock or option is refused', async () => {
    const good = await addProduct(service, { attributes: { 'bulk.code': 'x' } });
    const bad = await addProduct(service);
    const only = (member: string, code: string, product: Named): Refusal => ({
      ...{ error: 'VALIDATION_FAILED', member, code, of: `(of product ${product.id})` },
    });
    const attributes = { 'bulk.watt': 'x' };
    await refuse(products, [bad], { attributes }, only('attributes.bulk.watt', 'type', bad));
    await refuse(products, [bad], { images: [{ id: 5 }] }, only('images.0.id', 'unknown', bad));
    const category = { category: 'Bulk' };
    await refuse(products, [good, bad], category, only('attributes.bulk.code', 'required', bad));
    const parent = await shirt();
    await add(parent, chosen('M'));
    await refuse(products, [good, parent], { stock: { onHand: 4 } }, only('stock', 'variants', parent));
    const inUse = { error: 'OPTION_IN_USE', member: 'options', code: 'inUse' };
    const named = { ...inUse, of: `(of product ${parent.id})` };
    await refuse(products, [good, parent], { options: [] }, named);
  });

  test('name no product where the schema refuses the update itself', async () => {
    const product = await addProduct(service);
    const request = { method: 'PATCH', path: products, as: 'editor' } as const;
    const body = { ids: [product.id], update: { price: -1 } };
    const { details } = (await play(service, { ...request, name: 'price', body, status: 400 })).body;
    expect(details).toEqual([
      { field: 'update.price', pointer: '#/update/price', code: 'minimum', message: 'must be 0 or more' },
    ]);
  });

  test('name the products that cannot share a unique value, and the one whose value is taken', async () => {
    const [one, other] = [await addProduct(service), await addProduct(service)];
    const taken = { sku: `ERR-${kind}`, externalId: `err-${kind}` };
    await addProduct(service, taken);
    for (const [member, value] of Object.entries(taken)) {
      const refusal = { error: 'DUPLICATE', member, code: 'unique' };
      const both = { ...refusal, of: `product ${one.id} and product ${other.id} cannot both have it` };
      await refuse(products, [one, other], { [member]: `${value}-new` }, both);
      const alone = { ...refusal, of: `(of product ${other.id})` };
      await refuse(products, [other], { [member]: value }, alone);
    }
  });

  test('name the variant that is refused', async () => {
    const product = await shirt({ sku: `SHIRT-${kind}` });
    const [medium, large] = [await add(product, chosen('M')), await add(product, chosen('L'))];
    const path = pathsOf(product);
    const image = { error: 'VALIDATION_FAILED', member: 'imageId', code: 'unknown' };
    await refuse(path, [medium, large], { imageId: 5 }, { ...image, of: `(of variant ${medium.id})` });
    const option = { error: 'VALIDATION_FAILED', member: 'options.Size', code: 'enum' };
    await refuse(path, [large], chosen('XXL'), { ...option, of: `(of variant ${large.id})` });
    const taken = { error: 'DUPLICATE', member: 'options', code: 'unique' };
    await refuse(path, [large], chosen('M'), { ...taken, of: `(of variant ${large.id})` });
    const both = `variant ${medium.id} and variant ${large.id} cannot both have it`;
    await refuse(path, [medium, large], chosen('S'), { ...taken, of: both });
    const sku = { error: 'DUPLICATE', member: 'sku', code: 'unique' };
    await refuse(path, [medium, large], { sku: `TWO-${kind}` }, { ...sku, of: both });
    const other = await shirt();
    await add(other, { ...chosen('M'), sku: `HAD-${kind}` });
    await refuse(path, [large], { sku: `HAD-${kind}` }, { ...sku, of: `(of variant ${large.id})` });
  });
});
