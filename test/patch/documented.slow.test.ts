/** Merge patches of nested members: the document allows what the service accepts, and programs can write it. */
import { expect, test } from 'bun:test';
import Ajv from 'ajv/dist/2020.js';
import type { operations } from '../../client/index.ts';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

const type = 'application/merge-patch+json';
type Patch<Operation extends 'patchProduct' | 'patchVariant'> =
  operations[Operation]['requestBody']['content'][typeof type];

const ofProducts: readonly Patch<'patchProduct'>[] = [
  { attributes: { watt: null, colour: 'red' } },
  { weight: { unit: 'g' } },
  { weight: { value: 3 } },
  { weight: null },
  { stock: { onHand: null } },
  { stock: { backorder: true } },
  { attributes: null, tags: null, options: null },
];
const ofVariants: readonly Patch<'patchVariant'>[] = [
  { options: { Size: 'M' } },
  { options: { Size: 'S', Colour: null } },
  { weight: { unit: 'g' } },
  { stock: { onHand: 5 } },
];

describeOnDatabases('a merge patch of nested members on %s', kind => {
  test('is documented as it is accepted', async () => {
    await using service = await startTestService(kind);
    const { body: document } = await call(service, { path: '/openapi.json' });
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'catalog:document', components: document.components });
    const checkAll = async (template: string, path: string, patches: readonly object[]) => {
      const { $ref } = document.paths[template].patch.requestBody.content[type].schema;
      const validate = ajv.compile({ $ref: `catalog:document${$ref}` });
      for (const body of patches) {
        const headers = { 'Content-Type': type };
        const { status } = await call(service, { method: 'PATCH', path, as: 'editor', headers, body });
        expect([body, status, validate(body)]).toEqual([body, 200, true]);
      }
      expect(validate({ weight: { unit: 'mile' } })).toBeFalse();
    };
    const weight = { value: 1, unit: 'kg' };
    const lamp = await addProduct(service, { weight, attributes: { watt: 5 }, stock: { onHand: 4 } });
    await checkAll('/v1/products/{id}', pathOf(lamp), ofProducts);
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    const shirt = await addProduct(service, { options });
    const variants = `${pathOf(shirt)}/variants`;
    const body = { options: { Size: 'S' }, weight };
    const made = await call(service, { method: 'POST', path: variants, as: 'editor', body });
    const variant = `${variants}/${made.body.id}`;
    await checkAll('/v1/products/{id}/variants/{variantId}', variant, ofVariants);
  });
});
