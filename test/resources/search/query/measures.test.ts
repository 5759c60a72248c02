/** Measures: inch marks are read as the unit, decimals belong to their number, and units go by several names. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { splitWords } from '../../../../src/storage/search/text/split.ts';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

const shop = ['Monitor 27" QHD', 'Laptop 14in', 'Bed 90″ wide', 'Monitor 24 inch', 'Laptop 15.6” Sleeve'];

test.each([
  ['5" x 7"', ['5', 'in', 'x', '7', 'in']],
  ["12''", ['12', 'in']],
  ['a "size 14"', ['a', 'size', '14']],
  ['“iPhone 14” 6"', ['iphone', '14', '6', 'in']],
  ['„27“', ['27']],
  ['TV "X" 55"', ['tv', 'x', '55', 'in']],
])('%s is read as %j', (text, words) => expect(splitWords(text)).toEqual(words));

describeOnDatabases('inches on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const name of shop) await addProduct(service, { name });
  });
  afterAll(() => service.stop());

  test.each([
    ['27 inch monitor', 'Monitor 27" QHD'],
    ['27in monitor', 'Monitor 27" QHD'],
    ['27 zoll monitor', 'Monitor 27" QHD'],
    ['monitor 27"', 'Monitor 27" QHD'],
    ['14" laptop', 'Laptop 14in'],
    ['bed 90 inches', 'Bed 90″ wide'],
    ["monitor 24''", 'Monitor 24 inch'],
    ['15.6 inch laptop sleeve', 'Laptop 15.6” Sleeve'],
  ])('%s finds %s with all its words', async (query, title) => {
    const path = `/v1/search?q=${encodeURIComponent(query)}&perPage=1`;
    const [hit] = (await call(service, { path, as: 'user' })).body.data;
    expect([hit.title, hit.missing]).toEqual([title, []]);
  });

  test('an inch mark is not completed', async () => {
    const { body } = await call(service, { path: '/v1/search/suggest?q=monitor+27%22', as: 'user' });
    expect(body.words).toEqual([]);
    expect(body.products.map(({ title }: { title: string }) => title)).toEqual(['Monitor 27" QHD']);
  });
});

const measured = [
  'HDMI Cable 15m',
  'HDMI Cable 1.5m',
  'Basmati Rice 25 kg',
  'Basmati Rice 2.5kg',
  'Basmati Rice 2,5 kg',
  'Drill 12in',
  'Drill 1/2in',
  'Elko 100 µF 25 V',
  'Resistor 47 kΩ',
  'Resistor 4.7 kΩ',
  'Resistor 1 MΩ',
  'Vitamin D3 25 µg',
  'Oak Flooring 20 m²',
  'Bulb 2700K',
  'Nozzle 1.324-630.0',
  'Valve 601.5HX',
  'Lamp 25 lm',
  'Lamp 2.5 lm',
  'Carpet 25 m²',
  'Carpet 2.5 m²',
  'Carpet 40 sqm',
  'Power Bank 10.000mAh',
  'Power Bank 10000 mAh',
  'Shim 0.125in',
  'Wire 3x1.5mm²',
  'Wire 3x15mm²',
  'Tap M8x1.25',
  'Bolt M8x125',
  'Bolt M8 × 40',
  'Table 200 × 100 cm',
  'Terrace Screws 5,0x80',
  'Screen 144Hz',
  'Disk 1TB',
  'Film Capacitor 0.1uF',
  'Foil Capacitor 100nF',
  'Hair Dryer 2,2 kW',
  'Almonds 500 g',
  'Riesling 75cl',
  'Heat Gun 2000 Watt',
  'Wood Stain 2,5 Liter',
];

describeOnDatabases('measures in searches on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const name of measured) await addProduct(service, { name });
  });
  afterAll(() => service.stop());

  /** The names of the hits with all words of the query. */
  async function findAll(query: string): Promise<string[]> {
    const path = `/v1/search?q=${encodeURIComponent(query)}`;
    const { data } = (await call(service, { path, as: 'user' })).body;
    return data
      .filter(({ missing }: { missing: string[] }) => missing.length === 0)
      .map(({ title }: { title: string }) => title)
      .sort();
  }

  test.each([
    ['hdmi cable 15m', ['HDMI Cable 15m']],
    ['15 m hdmi cable', ['HDMI Cable 15m']],
    ['hdmi cable 1.5m', ['HDMI Cable 1.5m']],
    ['hdmi cable 1,5m', ['HDMI Cable 1.5m']],
    ['hdmi cable 1.5 m', ['HDMI Cable 1.5m']],
    ['rice 25kg', ['Basmati Rice 25 kg']],
    ['rice 2.5kg', ['Basmati Rice 2,5 kg', 'Basmati Rice 2.5kg']],
    ['2,5 kg rice', ['Basmati Rice 2,5 kg', 'Basmati Rice 2.5kg']],
    ['2500 g rice', ['Basmati Rice 2,5 kg', 'Basmati Rice 2.5kg']],
    ['drill 12in', ['Drill 12in']],
    ['drill 1/2in', ['Drill 1/2in']],
    ['2.5 lm lamp', ['Lamp 2.5 lm']],
    ['2,5m² carpet', ['Carpet 2.5 m²']],
    ['25m² carpet', ['Carpet 25 m²']],
    ['0125in shim', []],
    ['3x1.5mm² wire', ['Wire 3x1.5mm²']],
    ['3x1,5 mm² wire', ['Wire 3x1.5mm²']],
    ['3x15mm² wire', ['Wire 3x15mm²']],
    ['m8x1.25', ['Tap M8x1.25']],
    ['m8x125', ['Bolt M8x125']],
    ['screws 5x80', ['Terrace Screws 5,0x80']],
    ['screws 5,0x80', ['Terrace Screws 5,0x80']],
  ])('%j does not take decimals for whole numbers', async (query, names) => {
    expect(await findAll(query)).toEqual(names);
  });

  test.each([
    ['elko 100uf', 'Elko 100 µF 25 V'],
    ['resistor 47 kohm', 'Resistor 47 kΩ'],
    ['resistor 4,7 kohm', 'Resistor 4.7 kΩ'],
    ['vitamin d3 25mcg', 'Vitamin D3 25 µg'],
    ['flooring 20 qm', 'Oak Flooring 20 m²'],
    ['flooring 20sqm', 'Oak Flooring 20 m²'],
    ['40m² carpet', 'Carpet 40 sqm'],
    ['2700 kelvin bulb', 'Bulb 2700K'],
    ['resistor 4.7k', 'Resistor 4.7 kΩ'],
    ['resistor 47k', 'Resistor 47 kΩ'],
    ['47k resistor', 'Resistor 47 kΩ'],
    ['4,7k resistor', 'Resistor 4.7 kΩ'],
    ['resistor 1 mohm', 'Resistor 1 MΩ'],
    ['almonds 500gr', 'Almonds 500 g'],
    ['500 gr almonds', 'Almonds 500 g'],
    ['144 hertz screen', 'Screen 144Hz'],
    ['25 lumen lamp', 'Lamp 25 lm'],
    ['disk 1000gb', 'Disk 1TB'],
    ['2200 watt dryer', 'Hair Dryer 2,2 kW'],
    ['750ml riesling', 'Riesling 75cl'],
    ['heat gun 2 kw', 'Heat Gun 2000 Watt'],
    ['wood stain 2500 ml', 'Wood Stain 2,5 Liter'],
    ['100nf film capacitor', 'Film Capacitor 0.1uF'],
    ['0.1µf foil capacitor', 'Foil Capacitor 100nF'],
    ['table 200 x 100', 'Table 200 × 100 cm'],
  ])('%j finds %j by another name of the unit', async (query, name) => {
    expect(await findAll(query)).toEqual([name]);
  });

  test.each(['10000mah', '10.000mah', '10,000 mah', '10.000 mAh'])(
    'thousands are found by %j',
    async query => {
      expect(await findAll(`${query} power bank`)).toEqual(['Power Bank 10.000mAh', 'Power Bank 10000 mAh']);
    },
  );

  test.each([
    ['1.324-630.0', 'Nozzle 1.324-630.0'],
    ['601.5hx', 'Valve 601.5HX'],
    ['601 5hx', 'Valve 601.5HX'],
  ])('a part number with a point is found by %j', async (query, name) => {
    expect(await findAll(query)).toEqual([name]);
  });
});
