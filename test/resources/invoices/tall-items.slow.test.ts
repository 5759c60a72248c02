/** The PDF of an invoice whose items are taller than a page: everything is shown, and nothing beyond the margins. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { pay } from '../../support/data/invoices.ts';
import { userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { readPdf } from '../../support/peers/pdf.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** The height of the footer, in points, above which all items must end. */
const footer = 60;

/** Different sentences of the largest length that a value of an option may have. */
const sentences = ['一', '二', '三', '四', '五'].map(digit => digit.repeat(255));

describeOnDatabases('items taller than a page on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('an item with long options continues on the next page', async () => {
    const values = Object.fromEntries(sentences.map((sentence, index) => [`選項${index}`, sentence]));
    const options = Object.entries(values).map(([name, value]) => ({ name, values: [value] }));
    const product = await addProduct(service, { name: '桌'.repeat(200), price: 5, options });
    const body = { options: values, sku: '六'.repeat(255) };
    const path = `${pathOf(product)}/variants`;
    const variant = await call(service, { method: 'POST', path, as: 'editor', body });
    const items = [{ productId: product.id, variantId: variant.body.id, quantity: 1 }];
    const place = `/v1/users/${await userIdOf(service, 'user')}/orders`;
    const placed = await call(service, { method: 'POST', path: place, as: 'user', body: { items } });
    expect((await pay(service, placed.body.id)).status).toBe(200);
    const { body: found } = await call(service, {
      path: `/v1/invoices?orderId=${placed.body.id}`,
      as: 'user',
    });
    const pdf = await fetch(`${service.url}/v1/invoices/${found.data[0].id}`, {
      headers: { Accept: 'application/pdf', Authorization: `Bearer ${service.tokens.user}` },
    });
    const { pages } = await readPdf(await pdf.bytes());
    const shown = pages.flatMap(page => page.filter(({ y, text }) => y > footer && text !== 'Item'));
    const texts = shown.map(({ text }) => text.replaceAll(' ', ''));
    const column = texts.join('').replaceAll(/Quantity|Unitprice|Amount/g, '');
    for (const [name, value] of Object.entries(values)) expect(column).toContain(`${name}:${value}`);
    expect(column).toContain(body.sku);
    // The number of the invoice and that of the page.
    for (const page of pages) expect(page.filter(({ y }) => y <= footer).length).toBe(2);
  });
});
