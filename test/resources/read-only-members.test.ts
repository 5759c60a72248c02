/** Members inside members that only the service writes: a JSON Patch that changes them is refused, and changes nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { plainPng, sendImage } from '../support/images.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeOnDatabases('read-only members inside members on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const patch = (product: { readonly id: number }, operations: readonly object[]) =>
    call(service, {
      method: 'PATCH',
      path: pathOf(product),
      as: 'editor',
      body: JSON.stringify(operations),
      headers: { 'Content-Type': 'application/json-patch+json' },
    });
  const readOnly = (pointer: string) => [
    {
      field: pointer.slice(2).replaceAll('/', '.'),
      pointer,
      code: 'readOnly',
      message: 'is read-only',
    },
  ];
  const imagesOf = async (product: { readonly id: number }) =>
    (await call(service, { path: pathOf(product), as: 'user' })).body.images;

  test('pieces that orders have reserved', async () => {
    const product = await addProduct(service, { stock: { tracked: true, onHand: 5 } });
    const more = { op: 'replace', path: '/stock/onHand', value: 6 };
    const refused = await patch(product, [more, { op: 'replace', path: '/stock/reserved', value: 2 }]);
    expect([refused.status, refused.body.error]).toEqual([422, 'PATCH_RESULT_INVALID']);
    expect(refused.body.details).toEqual(readOnly('#/stock/reserved'));
    const whole = { tracked: true, onHand: 7, backorder: false };
    const replaced = await patch(product, [{ op: 'replace', path: '/stock', value: whole }]);
    expect([replaced.status, replaced.body.stock]).toEqual([200, { ...whole, reserved: 0 }]);
  });

  test('what the service found of an image, wherever it is moved to', async () => {
    const product = await addProduct(service, { images: [{ url: 'https://images.example/a.jpg' }] });
    const uploaded = (await sendImage(service, product, plainPng(3, 3, 9, 9, 9))).body;
    const first = { op: 'move', from: '/images/1', path: '/images/0' };
    const moved = await patch(product, [first]);
    expect([moved.status, moved.body.images?.[0].id, moved.body.images?.[0].width]).toEqual([
      200,
      uploaded.id,
      3,
    ]);
    const refused = await patch(product, [first, { op: 'replace', path: '/images/0/width', value: 5 }]);
    expect([refused.status, refused.body.details]).toEqual([422, readOnly('#/images/0/width')]);
    expect((await imagesOf(product)).map(({ id }: { id: number }) => id)[0]).toBe(uploaded.id);
  });
});
