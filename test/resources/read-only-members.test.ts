/** A JSON Patch that changes nested members that only the service writes is refused, and changes nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { plainPng, sendImage } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

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

  test('a patch of the reserved stock is refused', async () => {
    const product = await addProduct(service, { stock: { tracked: true, onHand: 5 } });
    const more = { op: 'replace', path: '/stock/onHand', value: 6 };
    const refused = await patch(product, [more, { op: 'replace', path: '/stock/reserved', value: 2 }]);
    expect([refused.status, refused.body.error]).toEqual([422, 'PATCH_RESULT_INVALID']);
    expect(refused.body.details).toEqual(readOnly('#/stock/reserved'));
    const whole = { tracked: true, onHand: 7, backorder: false };
    const replaced = await patch(product, [{ op: 'replace', path: '/stock', value: whole }]);
    expect([replaced.status, replaced.body.stock]).toEqual([200, { ...whole, reserved: 0 }]);
  });

  test('a patch of an upload’s dimensions is refused, even after a move', async () => {
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

  const strictly = (product: { readonly id: number }, body: object) =>
    call(service, {
      ...{ method: 'PATCH', path: pathOf(product), as: 'editor', body },
      headers: { 'Content-Type': 'application/merge-patch+json', Prefer: 'handling=strict' },
    });

  test('a patch of the owed stock is refused, even where the stock shows none', async () => {
    const product = await addProduct(service, { stock: { onHand: 5 } });
    const owed = { op: 'add', path: '/stock/owed', value: 1 };
    const refused = await patch(product, [{ op: 'replace', path: '/price', value: 77 }, owed]);
    expect([refused.status, refused.body.details]).toEqual([422, readOnly('#/stock/owed')]);
    const merged = await strictly(product, { price: 77, stock: { owed: 1 } });
    expect([merged.status, merged.body.details]).toEqual([400, readOnly('#/stock/owed')]);
    const uncounted = await addProduct(service);
    const stock = { tracked: true, onHand: 3, reserved: 0, backorder: false };
    const wrong = { op: 'add', path: '/stock', value: { ...stock, reserved: 2 } };
    expect((await patch(uncounted, [wrong])).body.details).toEqual(readOnly('#/stock/reserved'));
    const now = await call(service, { path: pathOf(product), as: 'user' });
    expect([now.body.price, now.body.stock]).toEqual([product.price, product.stock]);
    // A value equal to the result is not refused, nor is an unknown member.
    const whole = await patch(uncounted, [{ op: 'add', path: '/stock', value: stock }]);
    expect([whole.status, whole.body.stock]).toEqual([200, stock]);
    const unknown = await patch(uncounted, [{ op: 'add', path: '/stock/colour', value: 'red' }]);
    expect([unknown.status, unknown.body.stock]).toEqual([200, stock]);
  });

  test('a patch of an image’s id is refused at every position', async () => {
    const url = (name: string) => `https://images.example/${name}.jpg`;
    const product = await addProduct(service, { images: [{ url: url('a') }, { url: url('b') }] });
    const [a, b] = product.images;
    const id = { op: 'replace', path: '/images/0/id', value: 7 };
    const refused = await patch(product, [id]);
    expect([refused.status, refused.body.details]).toEqual([422, readOnly('#/images/0/id')]);
    const moved = await patch(product, [{ op: 'move', from: '/images/1', path: '/images/0' }, id]);
    expect([moved.status, moved.body.details]).toEqual([422, readOnly('#/images/0/id')]);
    const fresh = { op: 'add', path: '/images/-', value: { id: 7, url: url('c'), alt: null } };
    expect((await patch(product, [fresh])).body.details).toEqual(readOnly('#/images/2/id'));
    const merged = await strictly(product, { images: [{ id: 7, url: url('a') }] });
    expect([merged.status, merged.body.details]).toEqual([400, readOnly('#/images/0/id')]);
    expect(await imagesOf(product)).toEqual([a, b]);
    // Another link is another image: a place in the list keeps its id only while it keeps its url.
    const replaced = await patch(product, [{ op: 'replace', path: '/images/0/url', value: url('d') }]);
    expect([replaced.status, replaced.body.images[0].url]).toEqual([200, url('d')]);
    const copied = await addProduct(service);
    const copy = await patch(copied, [{ op: 'add', path: '/images/-', value: b }]);
    expect([copy.status, copy.body.images]).toEqual([200, [b]]);
  });
});
