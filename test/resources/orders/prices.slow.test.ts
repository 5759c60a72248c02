/** Orders whose prices have more decimals than their currency: never a cent too much, and nothing for free. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { invoiced } from '../../support/data/invoices.ts';
import { act, halType, placeOrder } from '../../support/data/orders.ts';
import { userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { mailsOf } from '../../support/peers/mails.ts';
import { readPdf } from '../../support/peers/pdf.ts';
import { stripeOrdersOn } from '../../support/peers/stripe-orders.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const prices: [price: number, currency: string, quantity: number, total: number][] = [
  [0.004, 'EUR', 10_000, 40],
  [0.005, 'EUR', 10_000, 50],
  [0.0149, 'EUR', 1000, 14.9],
  [99.5, 'JPY', 10, 995],
  [0.0004, 'KWD', 10_000, 4],
  // Rounded once, half up, after the multiplication.
  [0.005, 'EUR', 1, 0.01],
  [0.0049, 'EUR', 1, 0],
  [1.005, 'EUR', 3, 3.02],
  [0.335, 'EUR', 3, 1.01],
  // The binary value of 0.1 times three is more than 0.3.
  [0.1, 'EUR', 3, 0.3],
  [4.35, 'EUR', 100, 435],
  [0.0015, 'EUR', 3, 0],
  [1e-7, 'EUR', 10_000, 0],
  [9.9e-7, 'EUR', 10_000, 0.01],
  [1.234_567_890_123_456_7, 'EUR', 10_000, 12_345.68],
  [79.5, 'EUR', 2, 159],
  [0, 'EUR', 10_000, 0],
];

describeOnDatabases('prices of orders on %s', kind => {
  let service: TestService;
  let place: string;
  beforeAll(async () => {
    service = await startTestService(kind);
    place = `/v1/users/${await userIdOf(service, 'user')}/orders`;
  });
  afterAll(() => service.stop());
  const get = async (path: string, headers = {}) => (await call(service, { path, as: 'user', headers })).body;
  const order = (...items: readonly object[]) =>
    call(service, { method: 'POST', path: place, as: 'user', body: { items } });

  test.each(prices)('%p %s × %p is %p everywhere', async (price, currency, quantity, total) => {
    const {
      product,
      path,
      order: placed,
    } = await placeOrder(service, {
      product: { price, currency },
      quantity,
    });
    expect(placed).toMatchObject({ total, currency });
    expect(placed.items).toMatchObject([{ quantity, unitPrice: price, total }]);
    const [item] = placed.items;
    // Deleting the product does not change the order.
    await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
    expect(await get(path)).toEqual(placed);
    expect((await get(`${path}/items`)).data).toEqual(placed.items);
    expect(await get(`${path}/items/${item.id}`)).toEqual(item);
    const hal = await get(path, { Accept: halType });
    expect([hal.total, hal._embedded.item]).toMatchObject([total, placed.items]);
    const listed = (await get(`${place}?order=desc&sort=id`)).data;
    expect(listed[0]).toEqual(placed);

    const paid = await act(service, { path }, 'payment');
    expect([paid.status, paid.body.status, paid.body.total]).toEqual([200, 'PAID', total]);
    const [invoice] = (await get(`/v1/invoices?orderId=${placed.id}`)).data;
    expect([invoice.total, invoice.items]).toEqual([total, placed.items]);
    const events = await eventsOf(service, 'order', placed.id);
    expect(events.map(({ after }) => after)).toMatchObject([
      { total, items: placed.items },
      { total, items: placed.items },
    ]);
    const [issued] = await eventsOf(service, 'invoice', invoice.id);
    expect(issued?.after).toMatchObject({ total, items: placed.items });
  });

  test('a line worth at least half a cent is not free', async () => {
    for (const [price, quantity] of [
      [0.005, 1],
      [0.0025, 2],
      [0.004, 2],
      [0.0001, 50],
      [0.000_000_5, 10_000],
    ] as const) {
      const { order: placed } = await placeOrder(service, { product: { price }, quantity });
      expect(placed.total).toBeGreaterThan(0);
    }
  });

  test('the total is the sum of the lines as they are shown', async () => {
    const ids: number[] = [];
    for (const price of [0.005, 0.014, 0.006]) ids.push((await addProduct(service, { price })).id);
    const { body } = await order(...ids.map(productId => ({ productId, quantity: 1 })));
    expect(body.items.map(({ total }: { total: number }) => total)).toEqual([0.01, 0.01, 0.01]);
    expect(body.total).toBe(0.03);
  });

  test('a variant costs its own price, or that of its product, with all decimals', async () => {
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    const { id: productId } = await addProduct(service, { price: 0.004, options });
    const items: object[] = [];
    for (const [Size, price] of [
      ['S', null],
      ['M', 0.0149],
    ] as const) {
      const path = `/v1/products/${productId}/variants`;
      const made = await call(service, {
        method: 'POST',
        path,
        as: 'admin',
        body: { options: { Size }, price },
      });
      items.push({ productId, variantId: made.body.id, quantity: 1000 });
    }
    const { body } = await order(...items);
    expect(body).toMatchObject({
      total: 18.9,
      items: [
        { unitPrice: 0.004, total: 4 },
        { unitPrice: 0.0149, total: 14.9 },
      ],
    });
  });

  test('the largest total is accepted, and a larger one is refused', async () => {
    const largest = Number.MAX_SAFE_INTEGER;
    const dear = await addProduct(service, { price: largest - 1, currency: 'JPY' });
    const cheap = await addProduct(service, { price: 0.5, currency: 'JPY' });
    const of = (quantity: number) =>
      order({ productId: dear.id, quantity: 1 }, { productId: cheap.id, quantity });
    const most = await of(2);
    expect([most.status, most.body.total]).toEqual([201, largest]);
    const beyond = await of(3);
    expect([beyond.status, beyond.body.error]).toEqual([422, 'ORDER_TOO_LARGE']);
  });

  test('the mail with the invoice names the total, and its PDF the unit price and the total', async () => {
    const invoice = await invoiced(service, 'user', [{ name: 'Screw', price: 0.004, quantity: 10_000 }]);
    const path = `/v1/invoices/${invoice.id}/send`;
    const [mail] = await mailsOf(service, () => call(service, { method: 'POST', path, as: 'user' }));
    expect(mail?.text).toContain(`Invoice ${invoice.number} for EUR 40.00 (order`);
    const content = mail?.attachments[0]?.content;
    if (!(content instanceof ArrayBuffer)) throw new Error('the mail has no PDF');
    const texts = (await readPdf(new Uint8Array(content))).pages.flat().map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(['0.004', '40.00', 'EUR 40.00']));
  });

  test('the previous release can read the stored prices; whole cents are stored as before', async () => {
    const { build, read } = service.database;
    for (const [price, kept] of [
      [0.0149, { unit_price: 1, exact_price: '0.0149' }],
      [9.9e-7, { unit_price: 0, exact_price: '9.9e-7' }],
      [79.5, { unit_price: 7950, exact_price: null }],
    ] as const) {
      const { path, order: placed } = await placeOrder(service, { product: { price }, quantity: 1 });
      const rows = build.selectFrom('order_items').select(['unit_price', 'exact_price']);
      expect(await read.all(rows.where('order_id', '=', placed.id).compile())).toEqual([kept]);
      await act(service, { path }, 'payment');
      const invoices = build.selectFrom('invoices').select('document').where('order_id', '=', placed.id);
      const document = JSON.parse((await read.first(invoices.compile()))?.document ?? '');
      const members = 'id order_id product_id variant_id name sku options quantity unit_price total';
      const further = kept.exact_price === null ? '' : ' exact_price';
      expect(document.items.map((item: object) => Object.keys(item).join(' '))).toEqual([members + further]);
    }
  });
});

describeOnDatabases('prices of orders that are paid through Stripe on %s', kind => {
  const on = stripeOrdersOn(kind);

  test('Stripe charges the total', async () => {
    const euro = await placeOrder(on.service, { product: { price: 0.004 }, quantity: 10_000 });
    const yen = await placeOrder(on.service, { product: { price: 99.5, currency: 'JPY' }, quantity: 10 });
    for (const [placed, amount] of [
      [euro, '4000'],
      [yen, '995'],
    ] as const) {
      expect((await act(on.service, placed, 'payment')).body.payment.status).toBe('pending');
      const forms = on.stripe.asked.map(({ form }) => form);
      const made = forms.filter(form => form['metadata[orderId]'] === String(placed.order.id));
      expect(made.map(form => form.amount)).toEqual([amount]);
    }
  });
});
