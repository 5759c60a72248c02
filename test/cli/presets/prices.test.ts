/** Prices in shops' files: the currencies beside them, and the dates of sales. */
import { expect, test } from 'bun:test';
import { isSaleOn } from '../../../src/cli/import/presets/dates.ts';
import { onCatalog, type Place, productsOf, variantsOf } from '../program.ts';

const onEuros = (work: (place: Place) => Promise<void>) => onCatalog(work, { DEFAULT_CURRENCY: 'EUR' });

const headers = {
  shopify: 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Compare At Price',
  woocommerce:
    'Type,SKU,Name,Published,Regular price,Sale price,Parent,Attribute 1 name,Attribute 1 value(s)',
  magento: 'sku,product_type,name,visibility,price,special_price,configurable_variations',
  google: 'id,title,availability,image_link,price,sale_price,item_group_id,size',
};

interface Mixed {
  readonly shop: keyof typeof headers;
  readonly rows: readonly string[];
  readonly options?: readonly string[];
  readonly says: string;
}

const mixed: readonly Mixed[] = [
  {
    shop: 'shopify',
    rows: ['b,B,Size,S,B-1,352 AED,', 'b,,,M,B-2,$10.00,'],
    says: 'line 3: Variant Price is in USD, the price in AED (it is "$10.00")',
  },
  {
    shop: 'shopify',
    rows: ['b,B,Size,S,B-1,10 USD,', 'b,,,M,B-2,10,12 GBP'],
    says: 'line 3: Variant Compare At Price is in GBP, the price in USD (it is "12 GBP")',
  },
  {
    shop: 'woocommerce',
    rows: [
      'variable,W,W,1,,,,Size,"S, M"',
      'variation,W1,W,1,12.00 USD,,W,Size,S',
      'variation,W2,W,1,13.00 GBP,,W,Size,M',
    ],
    says: 'line 4: Regular price is in GBP, the price in USD (it is "13.00 GBP")',
  },
  {
    shop: 'magento',
    rows: [
      'X1,simple,X,Not Visible Individually,12 USD,,',
      'X2,simple,X,Not Visible Individually,13 GBP,,',
      'X,configurable,X,"Catalog, Search",,,"sku=X1,size=S|sku=X2,size=M"',
    ],
    says: 'line 3: price is in GBP, the price in USD (it is "13 GBP")',
  },
  {
    shop: 'google',
    rows: ['S1,Dress S,in_stock,,129.00 EUR,,G,S', 'S2,Dress M,in_stock,,99.00 USD,,G,M'],
    says: 'line 3: price is in USD, the price in EUR (it is "99.00 USD")',
  },
  {
    shop: 'google',
    rows: ['S1,Dress,in_stock,,129.00 USD,,,'],
    options: ['--set', 'currency=EUR'],
    says: 'line 2: price is in USD, but the currency is EUR (it is "129.00 USD")',
  },
  {
    shop: 'shopify',
    rows: ['b,B,Size,S,B-1,10,', 'b,,,M,B-2,10 USD,'],
    options: ['--set', 'currency=EUR'],
    says: 'line 3: Variant Price is in USD, but the currency is EUR (it is "10 USD")',
  },
];

test.each(mixed)(
  '$shop: a product whose amounts are in two currencies is refused: $says',
  ({ shop, rows, options = [], says }) =>
    onEuros(async place => {
      const file = place.file('p.csv', [headers[shop], ...rows, ''].join('\n'));
      const ended = await place.runHere(['import', file, '--preset', shop, ...options]);
      expect(ended.err).toContain(says);
      expect(ended.status).toBe(2);
      expect(await productsOf(place)).toEqual([]);
    }),
);

const named: readonly {
  readonly shop: keyof typeof headers;
  readonly rows: readonly string[];
  readonly options?: readonly string[];
  readonly currency: string;
  readonly prices?: readonly number[];
}[] = [
  { shop: 'shopify', rows: ['a,A,,,A,$12.99,'], currency: 'USD', prices: [] },
  { shop: 'shopify', rows: ['a,A,,,A,$12.99,'], options: ['--currency', 'CAD'], currency: 'CAD', prices: [] },
  { shop: 'shopify', rows: ['b,B,Size,S,,352 AED,0.00 USD', 'b,,,M,,10,'], currency: 'AED' },
  {
    shop: 'woocommerce',
    rows: [
      'variable,W,W,1,,,,Size,"S, M"',
      'variation,W1,W,1,352.00 USD,,W,Size,S',
      'variation,W2,W,1,10,,W,Size,M',
    ],
    currency: 'USD',
  },
  {
    shop: 'magento',
    rows: [
      'X1,simple,X,Not Visible Individually,352 GBP,,',
      'X2,simple,X,Not Visible Individually,10,,',
      'X,configurable,X,"Catalog, Search",,,"sku=X1,size=S|sku=X2,size=M"',
    ],
    currency: 'GBP',
  },
  {
    shop: 'google',
    rows: ['S1,Dress S,in_stock,,352,,G,S', 'S2,Dress M,in_stock,,10 USD,,G,M'],
    currency: 'USD',
  },
];

test.each(named)(
  '$shop: the currency beside one amount is that of the product: $currency',
  ({ shop, rows, options = [], currency, prices = [352, 10] }) =>
    onEuros(async place => {
      const file = place.file('p.csv', [headers[shop], ...rows, ''].join('\n'));
      expect(await place.runHere(['import', file, '--preset', shop, ...options])).toMatchObject({
        status: 0,
      });
      expect(await productsOf(place)).toMatchObject([{ currency }]);
      expect((await variantsOf(place)).map(({ price }) => price)).toEqual([...prices]);
    }),
);

const unreadable = 'sales whose dates cannot be read count as over: the regular price was taken';
const eitherWay = 'ambiguous dates of sales were read with the month first';

/** Whether a sale is on at noon on 20 March 2024, and the note about it. */
const sales: readonly (readonly [from: string, to: string, isOn: boolean, note?: string])[] = [
  ['', '', true],
  ['2024-03-01', '', true],
  ['2024-03-21', '', false],
  ['2024-03-01 00:00:00', '2024-03-20 11:59:59', false],
  ['2024-03-01', '2024-03-20', true],
  ['2024-03-01', '2024-03-19', false],
  ['2024-02-24T13:00-0800', '2024-03-20T04:30-0800', true],
  ['2024-02-24T13:00-0800', '2024-03-20T15:30+0400', false],
  ['2024-03-20T11:00:00.000Z', '2024-03-20T13:00:00+00:00', true],
  ['01.03.24, 00:00', '25.12.24, 00:00', true],
  ['01.03.2024', '19.03.2024', false],
  ['01.12.26', '', false],
  ['01.12.98', '31.12.98', false],
  ['3/1/24, 12:00 AM', '12/25/24, 11:59\u202FPM', true],
  ['3/20/24, 11:00 AM', '3/20/24, 12:30 PM', true],
  ['1/3/24', '25/12/24', true],
  ['1/4/24', '25/12/24', false],
  ['25/3/2024', '', false],
  ['2024/03/01', '2024/03/31', true],
  ['1/4/24', '', true, eitherWay],
  ['4/1/24', '', false, eitherWay],
  ['1/4/22', '5/6/22', false],
  ['not a date', '', false, unreadable],
  ['', 'soon', false, unreadable],
  ['30.02.24', '', false, unreadable],
  ['1/25/24', '25/12/24', false, unreadable],
  ['01-03-2024', '', false, unreadable],
  ['2024-03-01 25:00', '', false, unreadable],
  ['1.3.4', '', false, unreadable],
  [`2024-03-01${' '.repeat(50)}`, '', false, unreadable],
];

const noon = Date.UTC(2024, 2, 20, 12);

test.each(sales.map(([from, to, isOn, note = '']) => ({ from, to, isOn, note })))(
  'a sale from "$from" to "$to"',
  ({ from, to, isOn, note }) => {
    const notes: string[] = [];
    expect(isSaleOn({ from, to }, { now: noon, note: text => void notes.push(text) })).toBe(isOn);
    expect(notes.join()).toBe(note);
  },
);

const past = { regular: { price: 10, compareAtPrice: null }, on: { price: 7, compareAtPrice: 10 } };

const today = new Date().toISOString().slice(0, 10);

const dated = [
  {
    shop: 'magento',
    header: `sku,product_type,name,visibility,price,special_price,special_price_from_date,special_price_to_date`,
    rows: [
      ['D0,simple,D,"Catalog, Search",10,7,"01.03.20, 00:00","25.12.20, 00:00"', past.regular],
      ['D1,simple,D,"Catalog, Search",10,7,1/3/20,25/12/20', past.regular],
      ['D2,simple,D,"Catalog, Search",10,7,not a date,', past.regular],
      ['D3,simple,D,"Catalog, Search",10,7,01.12.98,', past.regular],
      ['D4,simple,D,"Catalog, Search",10,7,01.12.20,31.12.98', past.on],
      [`D5,simple,D,"Catalog, Search",10,7,2020-03-01 00:00:00,${today} 00:00:00`, past.on],
    ],
    attributes: {
      special_price: 7,
      special_price_from_date: '01.03.20, 00:00',
      special_price_to_date: '25.12.20, 00:00',
    },
  },
  {
    shop: 'woocommerce',
    header: 'Type,SKU,Name,Published,Regular price,Sale price,Date sale price starts,Date sale price ends',
    rows: [
      ['simple,D0,D,1,10,7,01.03.2020 00:00,25.12.2020 23:59', past.regular],
      ['simple,D1,D,1,10,7,15.12.2098,', past.regular],
      ['simple,D2,D,1,10,7,soon,', past.regular],
      ['simple,D3,D,1,10,7,15.12.2020,', past.on],
    ],
    attributes: {
      sale_price: 7,
      date_sale_price_starts: '01.03.2020 00:00',
      date_sale_price_ends: '25.12.2020 23:59',
    },
  },
  {
    shop: 'google',
    header: 'id,title,availability,image_link,price,sale_price,sale_price_effective_date',
    rows: [
      ['D0,D,in_stock,,10 EUR,7 EUR,24.02.2020/29.02.2020', past.regular],
      ['D1,D,in_stock,,10 EUR,7 EUR,2/24/2020 / 2/29/2020', past.regular],
      ['D2,D,in_stock,,10 EUR,7 EUR,2020-02-24T13:00-0800/2098-02-28T15:30-0800', past.on],
      ['D3,D,in_stock,,10 EUR,7 EUR,2020-02-24 to 2098-02-28', past.regular],
    ],
    attributes: { sale_price: '7 EUR', sale_price_effective_date: '24.02.2020/29.02.2020' },
  },
] as const;

test.each(dated.map(one => ({ ...one })))(
  '$shop: a sale applies only between its dates, and is kept outside them',
  ({ shop, header, rows, attributes }) =>
    onEuros(async place => {
      const file = place.file('p.csv', [header, ...rows.map(([row]) => row), ''].join('\n'));
      const ended = await place.runHere(['import', file, '--preset', shop]);
      expect(ended.err).toContain(`1 × ${unreadable}`);
      expect(ended.status).toBe(0);
      const made = (await productsOf(place)).sort((a, b) => String(a.sku).localeCompare(String(b.sku)));
      expect<unknown>(made.map(({ price, compareAtPrice }) => ({ price, compareAtPrice }))).toEqual(
        rows.map(([, prices]) => prices),
      );
      expect(made[0]?.attributes).toMatchObject(attributes);
    }),
);

test('a Magento bundle has a price of its own in any spelling except that of 0', () =>
  onEuros(async place => {
    const header = 'sku,product_type,name,product_online,visibility,price';
    const rows = ['30,00', '12 EUR', '0,00', '', '0'].map(
      (price, index) => `B-${index},bundle,Kit,1,"Catalog, Search","${price}"`,
    );
    const file = place.file('p.csv', [header, ...rows, ''].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'magento', '--decimal', 'comma']);
    expect(ended.err).toContain('3 × bundles, which have no price of their own, were left out');
    expect((await productsOf(place)).map(({ sku, price }) => [sku, price])).toEqual([
      ['B-0', 30],
      ['B-1', 12],
    ]);
  }));

test('a sign of several currencies stands for the currency that is named elsewhere, or the default', () =>
  onCatalog(
    async place => {
      const plain =
        'sku,name,price,currency\nA,A,$12.99,AUD\nB,B,$12.99,\nC,C,100 kr,NOK\nD,D,€5,\nE,E,$5.00 USD,\n';
      const shop = [headers.google, 'G,Dress,in_stock,,$129.00,,,', ''].join('\n');
      const ended = [
        await place.runHere(['import', place.file('p.csv', plain)]),
        await place.runHere(['import', place.file('d.csv', plain), '--dry-run']),
        await place.runHere([
          ...['import', place.file('g.csv', shop), '--preset', 'google'],
          ...['--set', 'currency=AUD'],
        ]),
      ];
      expect(ended.map(({ status }) => status)).toEqual([0, 0, 0]);
      expect(ended[1]?.out).toContain('5 unchanged');
      const currencies = (await productsOf(place)).map(({ sku, currency }) => `${sku} ${currency}`);
      expect(currencies).toEqual(['A AUD', 'B CAD', 'C NOK', 'D EUR', 'E USD', 'G AUD']);
    },
    { DEFAULT_CURRENCY: 'CAD' },
  ));
