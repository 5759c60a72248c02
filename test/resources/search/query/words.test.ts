/** How people write what they look for: part numbers, units, joined and split words, forms, typos; and markup. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

const shop = [
  { name: 'Samtron Monitor 24MB-01', mpn: '24 MB 01' },
  { name: 'Pixelon Monitor 27MB-02' },
  { name: 'Bosch GSR 18V-55 Cordless Drill', brand: 'Bosch', gtin: '4006381333931' },
  { name: 'Chuck for GSR 18V-55' },
  { name: 'Espresso Coffee Beans 500 g' },
  { name: 'Green Tea 250g' },
  { name: 'Nordhaus Sofa Bed' },
  { name: 'Oakline Sofabed Cover' },
  { name: 'Crew Neck T-Shirt', category: 'Clothing > Tops' },
  { name: "Women's Running Shoes", attributes: { colour: 'crimson', size: 38 } },
  { name: "Men's Hiking Boots" },
  { name: 'Oak Bookshelf', tags: ['bookshelves'] },
  { name: 'Kitchen Knife' },
  { name: 'Wireless Headphones' },
  {
    name: 'Dimmable Pendant',
    description: '<p class="hero">Bright &amp; <b>war</b>mer</p><script>alert(1)</script>',
  },
  { name: 'Klappbarer Gartenstuhl' },
  { name: 'Garten Handschuhe' },
  { name: 'Barhocker Stuhl' },
  { name: 'iPhone 14 Case' },
  { name: 'For Kids' },
  { name: 'Air Fryer' },
  { name: 'Sonar WH-1000XM5 Earcups' },
  { name: 'Pixelon RTX4070 Graphics Card' },
  { name: 'Metallo BS18LT-66 Screwdriver' },
  { name: 'Ferro Bit Set 68GS-37' },
  { name: 'Walnut Stool', mpn: 'QZ77CAR41' },
  { name: 'Copper Pipe Cutter 1-1/4 inch' },
  { name: 'Copper Pipe, 1 in. x 10 ft.' },
  { name: 'Lid for 5 gal Paint Bucket' },
  { name: 'Lined Paint Bucket 5 Gallons' },
  { name: 'Volta Battery 4.0Ah' },
  { name: 'Norda Cell, 6Ah' },
  { name: 'Gold Dress Watch' },
  { name: 'Long Gold Dress in Silk' },
  { name: 'Orion Galaxo S24' },
  { name: 'BLITZ!Box 7590 Router' },
  { name: 'Bookcase 80x202 cm' },
  { name: 'Bench 40 × 120 cm' },
  { name: 'Filter 6626-80' },
  { name: 'Clicka MX Master 3S Mouse' },
  { name: 'Phonia 5 Smartphone 256GB Blue' },
  { name: 'Wallet for Phonia 5', attributes: { fits: 'Phonia 5' }, description: 'Made for the Phonia 5.' },
  { name: 'Tablo Oak Writing Desk' },
  { name: 'Cover', description: 'Fits the Phonix12 and everything after it.' },
  { name: 'USB-C to Lightning Cable' },
  { name: 'USB-C to USB-C Cable, black' },
] as const;

/** A query → the name of its first hit. */
const first: readonly (readonly [query: string, name: string])[] = [
  ['24mb01', 'Samtron Monitor 24MB-01'],
  ['24 mb 01', 'Samtron Monitor 24MB-01'],
  ['24MB-01', 'Samtron Monitor 24MB-01'],
  ['24-mb-01', 'Samtron Monitor 24MB-01'],
  ['gsr18v55', 'Bosch GSR 18V-55 Cordless Drill'],
  ['gsr 18v 55', 'Bosch GSR 18V-55 Cordless Drill'],
  ['4006381333931', 'Bosch GSR 18V-55 Cordless Drill'],
  ['500g', 'Espresso Coffee Beans 500 g'],
  ['500 g coffee', 'Espresso Coffee Beans 500 g'],
  ['tea 250 g', 'Green Tea 250g'],
  ['iphone14', 'iPhone 14 Case'],
  ['galaxos24', 'Orion Galaxo S24'],
  ['blitzbox7590', 'BLITZ!Box 7590 Router'],
  ['80×202', 'Bookcase 80x202 cm'],
  ['80 * 202 cm', 'Bookcase 80x202 cm'],
  ['40x120', 'Bench 40 × 120 cm'],
  ['40 × 120', 'Bench 40 × 120 cm'],
  ['sofabed', 'Oakline Sofabed Cover'],
  ['sofa bed', 'Nordhaus Sofa Bed'],
  ['nordhaus sofabed', 'Nordhaus Sofa Bed'],
  ['master3s', 'Clicka MX Master 3S Mouse'],
  ['phonia 5', 'Phonia 5 Smartphone 256GB Blue'],
  ['wallet phonia 5', 'Wallet for Phonia 5'],
  ['stuhl für desk', 'Barhocker Stuhl'],
  ['tshirt', 'Crew Neck T-Shirt'],
  ['t-shirts', 'Crew Neck T-Shirt'],
  ['t shirt', 'Crew Neck T-Shirt'],
  ['womens shoes', "Women's Running Shoes"],
  ['woman shoe', "Women's Running Shoes"],
  ['women’s running shoes', "Women's Running Shoes"],
  ['mens boots', "Men's Hiking Boots"],
  ['crimson shoes 38', "Women's Running Shoes"],
  ['book shelf', 'Oak Bookshelf'],
  ['book shelves', 'Oak Bookshelf'],
  ['knives', 'Kitchen Knife'],
  ['head phones', 'Wireless Headphones'],
  ['hedphons', 'Wireless Headphones'],
  ['wirless haedphones', 'Wireless Headphones'],
  ['gartenstühle', 'Klappbarer Gartenstuhl'],
  ['bosch drill with two batteries and a case', 'Bosch GSR 18V-55 Cordless Drill'],
  ['warmer', 'Dimmable Pendant'],
  // Words that no product has: found by an equal end or beginning, another spelling, or the code that they begin.
  ['campingstuhl', 'Barhocker Stuhl'],
  ['hocker', 'Barhocker Stuhl'],
  ['espressotasse', 'Espresso Coffee Beans 500 g'],
  ['gartenstuehle', 'Klappbarer Gartenstuhl'],
  ['head phone', 'Wireless Headphones'],
  ['27 mb 0', 'Pixelon Monitor 27MB-02'],
  // Parts of a word of letters and digits.
  ['xm5', 'Sonar WH-1000XM5 Earcups'],
  ['sonar xm5', 'Sonar WH-1000XM5 Earcups'],
  ['1000xm earcups', 'Sonar WH-1000XM5 Earcups'],
  ['wh1000 earcups', 'Sonar WH-1000XM5 Earcups'],
  ['wh 1000 xm5', 'Sonar WH-1000XM5 Earcups'],
  ['4070', 'Pixelon RTX4070 Graphics Card'],
  ['rtx graphics', 'Pixelon RTX4070 Graphics Card'],
  ['18lt screwdriver', 'Metallo BS18LT-66 Screwdriver'],
  ['18lt66 screwdriver', 'Metallo BS18LT-66 Screwdriver'],
  ['18lt-66', 'Metallo BS18LT-66 Screwdriver'],
  ['bit gs37', 'Ferro Bit Set 68GS-37'],
  ['77car stool', 'Walnut Stool'],
  ['cover for phonix', 'Cover'],
  ['airfrier', 'Air Fryer'],
  // Other names of units.
  ['1 inch copper pipe', 'Copper Pipe, 1 in. x 10 ft.'],
  ['1-inch copper pipe', 'Copper Pipe, 1 in. x 10 ft.'],
  ['copper pipe 10 feet', 'Copper Pipe, 1 in. x 10 ft.'],
  ['5 gal bucket', 'Lined Paint Bucket 5 Gallons'],
  ['5gallon lined bucket', 'Lined Paint Bucket 5 Gallons'],
  ['4ah', 'Volta Battery 4.0Ah'],
  ['6.0ah', 'Norda Cell, 6Ah'],
  ['6,0 ah cell', 'Norda Cell, 6Ah'],
  ['500 grams coffee', 'Espresso Coffee Beans 500 g'],
  ['500gramm espresso', 'Espresso Coffee Beans 500 g'],
  ['tea 250 gramm', 'Green Tea 250g'],
  // The thing that the title names.
  ['gold dress', 'Long Gold Dress in Silk'],
  ['gold watch', 'Gold Dress Watch'],
  ['paint bucket', 'Lined Paint Bucket 5 Gallons'],
  // The words beside a repeated one.
  ['usb c to usb c cable', 'USB-C to USB-C Cable, black'],
  ['usb c to lightning cable', 'USB-C to Lightning Cable'],
  // Filler words count for little.
  ['for headphone', 'Wireless Headphones'],
];

describeOnDatabases('words of searches on %s', kind => {
  let service: TestService;
  const ask = async (query: string) =>
    (await call(service, { path: `/v1/search?q=${encodeURIComponent(query)}`, as: 'user' })).body;
  const namesOf = ({ data }: { data: { title: string }[] }) => data.map(({ title }) => title);
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
  });
  afterAll(() => service.stop());

  test.each([...first])('%j finds %j first', async (query, name) => {
    expect(namesOf(await ask(query))[0]).toBe(name);
  });

  test('parts of compounds are found, and compounds by their parts', async () => {
    expect(namesOf(await ask('stuhl'))).toEqual(['Barhocker Stuhl', 'Klappbarer Gartenstuhl']);
    expect(namesOf(await ask('sofa bed')).sort()).toEqual(['Nordhaus Sofa Bed', 'Oakline Sofabed Cover']);
  });

  test.each([
    ['gsr18v55', 'Bosch <mark>GSR 18V-55</mark> Cordless Drill'],
    ['27mb02', 'Pixelon Monitor <mark>27MB-02</mark>'],
    ['v55', 'Bosch GSR <mark>18V-55</mark> Cordless Drill'],
    ['hedphons', 'Wireless <mark>Headphones</mark>'],
    ['4006381333931', 'Bosch GSR 18V-55 Cordless Drill'],
  ])('%j is marked in %j', async (query, snippet) => {
    expect((await ask(query)).data[0].snippet).toBe(snippet);
  });

  test('a match inside a word marks the whole part, and letters of a part number do not match words', async () => {
    expect((await ask('xm5')).data[0]).toMatchObject({
      snippet: 'Sonar WH-<mark>1000XM5</mark> Earcups',
      missing: [],
    });
    expect((await ask('phonix')).data[0].snippet).toBe(
      'Fits the <mark>Phonix12</mark> and everything after it.',
    );
    // The last word of a query may be the beginning of a word.
    expect(namesOf(await ask('car cover'))).not.toContain('Walnut Stool');
    expect(namesOf(await ask('12'))).not.toContain('Cover');
  });

  test.each([
    '1 inch copper pipe',
    '5 gal lined bucket',
    '500 grams coffee',
    '250gramm tea',
    '4ah battery',
    '6.0 ah cell',
  ])('%j finds the same unit under another name', async query => {
    const [hit] = (await ask(query)).data;
    expect(hit.missing).toEqual([]);
    expect(hit.snippet).toContain('<mark>');
  });

  test('a unit is recognized only after a number', async () => {
    expect((await ask('gallon copper')).data[0].missing).not.toEqual([]);
    expect(namesOf(await ask('gramm'))).toEqual([]);
  });

  test('markup is neither found nor shown', async () => {
    for (const query of ['hero', 'alert', 'script']) expect(namesOf(await ask(query))).toEqual([]);
    const { data } = await ask('bright');
    expect(data[0].snippet).toBe('<mark>Bright</mark> &amp; warmer');
    const { body } = await call(service, { path: `/v1/products/${data[0].id}`, as: 'user' });
    expect(body.description).toContain('<p class="hero">');
  });
});
