/** The PDF of an invoice: what it shows, on as many pages as it needs, and always the same bytes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { invoiced, type Line } from '../../support/data/invoices.ts';
import { call } from '../../support/http/http.ts';
import { type PdfContent, readPdf } from '../../support/peers/pdf.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const settings = { INVOICE_SELLER: 'Łampy & Söhne | Hauptstraße 1 | 10115 Berlin' };
const pdf = 'application/pdf';

async function get(service: TestService, id: number, headers = {}, method = 'GET'): Promise<Response> {
  return fetch(`${service.url}/v1/invoices/${id}`, {
    method,
    headers: {
      Accept: pdf,
      'Accept-Encoding': 'identity',
      Authorization: `Bearer ${service.tokens.user}`,
      ...headers,
    },
  });
}
const textsOf = (content: PdfContent) => content.pages.flat().map(({ text }) => text);
const note = 'Characters that no font of this document has are shown as a question mark.';

describeOnDatabases('an invoice as PDF on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind, settings);
  });
  afterAll(() => service.stop());

  test('names the items, the seller and the amounts, and has a file name', async () => {
    const invoice = await invoiced(service, 'user', [
      { name: 'Lamp', price: 1234.5, quantity: 2, sku: `L-${kind}` },
      { name: 'Bulb', price: 0.1, quantity: 3 },
    ]);
    const response = await get(service, invoice.id);
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe(pdf);
    expect(response.headers.get('Content-Disposition')).toBe(`inline; filename="${invoice.number}.pdf"`);
    const content = await readPdf(await response.bytes());
    expect(content.title).toBe(`Invoice ${invoice.number}`);
    expect(content.createdAt).toBe(`D:${invoice.issuedAt.replaceAll(/[-T:]|\..*/g, '')}Z`);
    expect(textsOf(content)).toEqual([
      'Invoice',
      'Łampy & Söhne',
      'Hauptstraße 1',
      '10115 Berlin',
      'Invoice number',
      invoice.number,
      'Date',
      invoice.issuedAt.slice(0, 10),
      'Order',
      String(invoice.orderId),
      'Billed to',
      'Test user',
      'user@test.example',
      'Item',
      'Quantity',
      'Unit price',
      'Amount',
      '2',
      '1,234.50',
      '2,469.00',
      'Lamp',
      `L-${kind}`,
      '3',
      '0.10',
      '0.30',
      'Bulb',
      'Total',
      'EUR 2,469.30',
      `Paid in full on ${invoice.issuedAt.slice(0, 10)}.`,
      invoice.number,
      'Page 1 of 1',
    ]);
  });

  test('has the same bytes on every replica and after it is sent, so that a 304 is right', async () => {
    const invoice = await invoiced(service);
    service.clock.advance(1000);
    const first = await get(service, invoice.id);
    const bytes = await first.bytes();
    const etag = first.headers.get('ETag') ?? '';
    await using replica = await service.replica({ INVOICE_SELLER: 'Another seller' });
    const second = await get(replica, invoice.id);
    expect(second.headers.get('ETag')).toBe(etag);
    expect(await second.bytes()).toEqual(bytes);
    await call(service, { method: 'POST', path: `/v1/invoices/${invoice.id}/send`, as: 'user' });
    service.clock.advance(60_000);
    await service.settle();
    expect((await call(service, { path: `/v1/invoices/${invoice.id}`, as: 'user' })).body.status).toBe(
      'sent',
    );
    const unchanged = await get(service, invoice.id, { 'If-None-Match': etag });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
    const since = await get(service, invoice.id, { 'If-Modified-Since': first.headers.get('Last-Modified') });
    expect(since.status).toBe(304);
    const head = await get(service, invoice.id, {}, 'HEAD');
    expect([head.status, head.headers.get('ETag'), head.headers.get('Content-Length')]).toEqual([
      200,
      etag,
      String(bytes.length),
    ]);
    const json = await get(service, invoice.id, { Accept: 'application/json', 'If-None-Match': etag });
    expect(json.status).toBe(200);
    const compressed = await get(service, invoice.id, { 'Accept-Encoding': 'gzip' });
    expect(await compressed.bytes()).toEqual(bytes);
  });

  test('has the same bytes whatever was drawn before it, and its text can be copied', async () => {
    const named = (name: string) => invoiced(service, 'user', [{ name, price: 1, quantity: 1 }]);
    // The shapes of accented letters are composed from those of the plain letters.
    const others = [await named('Éric Ñandú ÀÈÌÒÙ'), await named('ffi Ç Å 東京 カ\u309a')];
    const invoice = await named('ERIC EWE NAOU ffi');
    await using replica = await service.replica();
    const alone = await get(replica, invoice.id);
    const drawn: Record<number, Uint8Array> = {};
    for (const { id } of others) drawn[id] = await (await get(service, id)).bytes();
    const after = await get(service, invoice.id);
    expect(after.headers.get('ETag')).toBe(alone.headers.get('ETag'));
    const bytes = await after.bytes();
    expect(bytes).toEqual(await alone.bytes());
    expect(textsOf(await readPdf(bytes))).toContain('ERIC EWE NAOU ffi');
    for (const { id } of others.reverse()) expect(drawn[id]).toEqual(await (await get(replica, id)).bytes());
  });

  test('letters that are drawn as a letter and a mark can be copied', async () => {
    const names = ['ẹ ị ọ ụ ṃ ṅ ṣ ǹ', 'Nguyễn Thị Ngọc Phụng', 'emu sioux'];
    const lines = names.map(name => ({ name, price: 1, quantity: 1 }));
    const invoice = await invoiced(service, 'user', lines);
    const content = await readPdf(await (await get(service, invoice.id)).bytes());
    const letters = (text: string) => text.normalize('NFC').replaceAll(/\s/g, '');
    const copied = letters(textsOf(content).join(''));
    for (const name of names) expect(copied).toContain(letters(name));
  });

  test.each([
    ['application/pdf;q=0.5, application/json', 'application/json'],
    ['application/pdf, application/json;q=0.5', pdf],
    ['application/vnd.catalog.v1+json', 'application/vnd.catalog.v1+json'],
    ['application/hal+json, application/pdf;q=0.1', 'application/hal+json'],
    ['application/*', 'application/json'],
  ])('Accept: %s gives %s', async (Accept, expected) => {
    const invoice = await invoiced(service);
    const response = await get(service, invoice.id, { Accept });
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, expected]);
  });
});

describe('the pages of an invoice', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService('sqlite', settings);
  });
  afterAll(() => service.stop());
  const pagesOf = async (lines: readonly Line[]) =>
    readPdf(await (await get(service, (await invoiced(service, 'user', lines)).id)).bytes());

  test('show a hundred items of the longest names within their page and columns', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => ({
      name: `${index} ${'W'.repeat(60)} ${'wide words '.repeat(20)}`.slice(0, 200).trim(),
      price: 9_999_999.99,
      quantity: 10_000,
      sku: `SKU-${index}-${'X'.repeat(50)}`,
    }));
    const { pages } = await pagesOf(lines);
    expect(pages.length).toBeGreaterThan(5);
    const written = pages.flat();
    for (const { x, y } of written) expect(x >= 50 && y >= 40 && y <= 780).toBe(true);
    for (const [index, page] of pages.entries()) {
      const texts = page.map(({ text }) => text);
      expect(texts).toContain(`Page ${index + 1} of ${pages.length}`);
      if (page.length > 6) expect(texts).toContain('Unit price');
      // Apart from the footer, nothing is written near the foot of a page.
      const body = page.filter(({ y }) => y !== 40 && y !== 52);
      expect(Math.min(...body.map(({ y }) => y))).toBeGreaterThan(60);
    }
    const left = written.filter(({ x, y }) => x === 50 && y !== 40 && y !== 52);
    const all = left
      .map(({ text }) => text)
      .join('')
      .replaceAll(' ', '');
    for (const { name } of lines) expect(all).toContain(name.replaceAll(' ', ''));
    for (const piece of left) expect(piece.x + piece.width).toBeLessThanOrEqual(300);
    expect(written.map(({ text }) => text)).toContain('EUR 9,999,999,990,000.00');
  });

  test('align amounts at the right edge, however long they are', async () => {
    const { pages } = await pagesOf([
      { name: 'Cheap', price: 0.01, quantity: 1 },
      { name: 'Dear', price: 8_999_999_999.99, quantity: 9999 },
    ]);
    const amounts = pages.flat().filter(({ text }) => /^[\d,]+\.\d\d$/.test(text));
    expect(amounts).toHaveLength(4);
    const edges = amounts.map(piece => Math.round(piece.x + piece.width));
    expect(edges).toEqual([440, 545, 440, 545]);
  });

  test('show a unit price with all its decimals, within its column', async () => {
    const priced: readonly [price: number, quantity: number, shown: string, amount: string][] = [
      [0.004, 10_000, '0.004', '40.00'],
      [0.0149, 1000, '0.0149', '14.90'],
      [1234.5678, 3, '1,234.5678', '3,703.70'],
      [79.5, 2, '79.50', '159.00'],
      [1.234_567_890_123_451e-7, 10_000, '0.0000001234567890123451', '0.00'],
      [90_071_992.547_409_1, 1, '90,071,992.5474091', '90,071,992.55'],
      [5e-324, 1, `0.${'0'.repeat(323)}5`, '0.00'],
    ];
    const { pages } = await pagesOf(priced.map(([price, quantity]) => ({ name: 'Screw', price, quantity })));
    const figures = pages.flat().filter(({ text, x }) => x > 340 && /^[\d,]+\.\d+$/.test(text));
    expect(figures.map(({ text }) => text)).toEqual(priced.flatMap(([, , shown, amount]) => [shown, amount]));
    for (const [index, { x, width }] of figures.entries()) {
      const right = index % 2 === 0 ? 440 : 545;
      expect(Math.round(x + width)).toBe(right);
      expect(x).toBeGreaterThanOrEqual(right - 95.01);
    }
  });

  test('give an item without a visible name a line of its own', async () => {
    const names = ['\u200b', '\u00ad\u2060', 'Lamp'];
    const { pages } = await pagesOf(names.map((name, index) => ({ name, price: 1 + index, quantity: 1 })));
    const heightOf = (amount: string) => pages.flat().find(({ text }) => text === amount)?.y ?? 0;
    expect(heightOf('1.00') - heightOf('2.00')).toBe(17);
    expect(heightOf('2.00') - heightOf('3.00')).toBe(17);
  });

  test('a currency without minor units', async () => {
    const { pages } = await pagesOf([{ name: 'Lamp', price: 12_000, quantity: 2, currency: 'JPY' }]);
    expect(pages.flat().map(({ text }) => text)).toEqual(
      expect.arrayContaining(['12,000', '24,000', 'JPY 24,000']),
    );
  });

  test('show Greek, Cyrillic, Japanese, Chinese and Korean, and a question mark and a note for other characters', async () => {
    const names = [
      'Café “Größe” — €5 źdźbło',
      'Лампа Ω Őr',
      '東京の卓上ランプ',
      '台灯发光',
      '臺灣發光燈',
      '책상 등',
    ];
    const { pages } = await pagesOf(names.map(name => ({ name, price: 1, quantity: 1 })));
    const texts = pages.flat().map(({ text }) => text);
    const letters = (text: string) => text.replaceAll(' ', '');
    for (const name of names) expect(letters(texts.join(''))).toContain(letters(name));
    expect(texts).not.toContain(note);
    expect(texts.join('')).not.toContain('?');

    const others = await pagesOf([
      { name: '🎉👨‍👩‍👧 a\u202Eevil\u200b', price: 1, quantity: 1, sku: 'عربي' },
    ]);
    expect(textsOf(others)).toEqual(expect.arrayContaining(['?? aevil', '????', note]));
  });
});
