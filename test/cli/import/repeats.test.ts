/** Records of one file that have the same sku: what they come to is what they come to one after another. */
import { expect, test } from 'bun:test';
import { random } from '../../../bench/load/random.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, type Place, productsOf, variantsOf, versionOf } from '../program.ts';

const draw = random(20_261_126);
const isDrawn = (of: number): boolean => draw.integer(1, of) === 1;
const oneOf = <Item>(items: readonly [Item, ...Item[]]): Item =>
  items[draw.integer(0, items.length - 1)] ?? items[0];

function someOf<Item>(items: readonly Item[], most: number): Item[] {
  const left = [...items];
  return Array.from({ length: draw.integer(0, most) }, () =>
    left.splice(draw.integer(0, left.length - 1), 1),
  ).flat();
}

/** A member, or none, or an explicit null. */
const maybe = (name: string, value: () => unknown): object =>
  isDrawn(2) ? {} : { [name]: isDrawn(6) ? null : value() };

const imageDrawn = (url: string) => ({ url, ...maybe('alt', () => oneOf(['Front', 'Back'])) });
const urls = ['https://a.example/1', 'https://a.example/2', 'https://a.example/3'];
const sizes = ['S', 'M', 'L'];

function variantsDrawn(product: string): object[] {
  const skus = sizes.map(size => `${product}-${isDrawn(5) ? oneOf(['S', 'M', 'L']) : size}`);
  return sizes.flatMap((Size, index) =>
    isDrawn(2)
      ? []
      : {
          options: isDrawn(20) ? { Colour: 'red' } : { Size },
          ...(isDrawn(3) ? {} : { sku: skus[index] }),
          ...maybe('price', () => draw.integer(1, 9)),
          ...maybe('stock', () => ({ onHand: draw.integer(0, 2) })),
          ...maybe('image', () => oneOf(['https://a.example/1', 'https://a.example/2'])),
        },
  );
}

function recordDrawn(): object {
  const product = oneOf(['P1', 'P2', 'P3', 'P4']);
  return {
    ...(isDrawn(8) ? {} : { name: `Product ${draw.integer(1, 5)}` }),
    price: draw.integer(8, 14),
    // One of them is known by its external id only.
    ...(product === 'P4'
      ? { externalId: 'E4' }
      : { sku: product, ...maybe('externalId', () => `E${product}`) }),
    ...maybe('description', () => oneOf(['One', 'Two', ''])),
    ...maybe('category', () => oneOf(['a', 'b', 'c'])),
    ...maybe('categories', () => someOf(['a', 'b', 'c'], 3)),
    ...maybe('attributes', () => ({ [oneOf(['colour', 'size'])]: draw.integer(1, 3) })),
    ...maybe('images', () => someOf(urls, 3).map(imageDrawn)),
    // It has pieces, the others have variants.
    ...(product === 'P4' ? maybe('stock', () => ({ onHand: draw.integer(0, 2) })) : {}),
    ...(product !== 'P4' && isDrawn(3) ? { variants: variantsDrawn(product) } : {}),
  };
}

const lines = (records: readonly object[]) => records.map(record => `${JSON.stringify(record)}\n`).join('');

/** The first is of a product that is there already. */
const files = Array.from({ length: 3 }, () =>
  lines([{ sku: 'P0', name: 'New', price: 1 }, ...Array.from({ length: 30 }, recordDrawn)]),
);

/** All that a catalog has but for ids and when it was written, by what each product is called. */
async function contentsOf(place: Place): Promise<object> {
  const [products, variants] = [await productsOf(place), await variantsOf(place)];
  let first = 0;
  const contents = products.map(({ id: _id, createdAt: _created, updatedAt: _updated, ...product }) => {
    const own = variants.slice(first, first + product.variantCount);
    first += product.variantCount;
    return {
      ...product,
      variants: own.map(
        ({ id: _id, productId: _product, createdAt: _created, updatedAt: _updated, ...variant }) => variant,
      ),
    };
  });
  const keyOf = ({ sku, externalId }: (typeof contents)[number]) => sku ?? externalId ?? '';
  return contents.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const ways = [
  ['one after another, each in a transaction of its own', '-', ['--batch', '1']],
  ['a stream', '-', []],
  ['a file', 'p.ndjson', []],
  ['a file, one at a time', 'p.ndjson', ['--batch', '1']],
] as const;

describeOnDatabases('records with the sku of an earlier one on %s', kind => {
  test('come to the same in a file, in a stream and one at a time', async () => {
    const places = await Promise.all(ways.map(() => createCatalog(kind)));
    for (const place of places)
      await place.runHere([
        'import',
        place.file('before.ndjson', lines([{ sku: 'P0', name: 'Old', price: 1 }])),
      ]);
    let rejected = 0;
    for (const text of files) {
      const results: { way: string; refused: string | undefined; contents: object }[] = [];
      for (const [index, [way, from, options]] of ways.entries()) {
        const place = places[index];
        if (place === undefined) throw new Error('there is no place');
        const { out } = await (from === '-'
          ? place.run(['import', '-', '--format', 'ndjson', ...options], text)
          : place.runHere(['import', place.file(from, text), ...options]));
        const refused = /\d+ rejected/.exec(out)?.[0];
        rejected += Number.parseInt(refused ?? '0', 10);
        results.push({ way, refused, contents: await contentsOf(place) });
      }
      const [{ refused, contents } = { refused: '', contents: {} }] = results;
      for (const result of results)
        expect({ text, ...result }).toEqual({ text, way: result.way, refused, contents });
    }
    // Some are refused by the schema, and some by what the catalog has.
    expect(rejected).toBeGreaterThan(8);
    for (const place of places) {
      expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
      place.remove();
    }
  }, 120_000);

  test('add their variants to those of the earlier one, also where the catalog has products', async () => {
    const shirt = (Size: string) => ({
      ...{ sku: 'P2', name: 'Shirt', price: 10 },
      variants: [{ options: { Size }, sku: `P2${Size}` }],
    });
    const place = await createCatalog(kind);
    await place.runHere([
      'import',
      place.file('before.ndjson', lines([{ sku: 'P1', name: 'Mug', price: 1 }])),
    ]);
    const run = ['import', place.file('p.ndjson', lines([shirt('S'), shirt('M')]))];
    expect((await place.runHere(run)).out).toStartWith('1 created, 1 updated, 0 unchanged, 0 rejected');
    expect((await productsOf(place))[1]).toMatchObject({
      ...{ sku: 'P2', variantCount: 2, options: [{ name: 'Size', values: ['M', 'S'] }] },
    });
    expect((await variantsOf(place)).map(({ sku }) => sku)).toEqual(['P2S', 'P2M']);
    const version = await versionOf(place);
    // In one transaction even where each record has one of its own.
    expect((await place.runHere([...run, '--batch', '1'])).out).toStartWith(
      '0 created, 0 updated, 2 unchanged',
    );
    expect(await versionOf(place)).toBe(version);
    place.remove();
  });

  test('keep the text of an image that the later one leaves out, and lose that of an image it has not', async () => {
    const lamp = (images: readonly object[] | undefined) => ({ sku: 'L', name: 'Lamp', price: 1, images });
    const [front, side] = [{ url: 'https://a.example/f', alt: 'Front' }, { url: 'https://a.example/s' }];
    const place = await createCatalog(kind);
    await place.runHere([
      'import',
      place.file('before.ndjson', lines([{ sku: 'P1', name: 'Mug', price: 1 }])),
    ]);
    const imagesAfter = async (...records: object[]) => {
      await place.runHere(['import', place.file('p.ndjson', lines(records))]);
      return (await productsOf(place))[1]?.images.map(({ url, alt }) => [url, alt]);
    };
    expect(await imagesAfter(lamp([front]), lamp([side, { url: front.url }]), lamp(undefined))).toEqual([
      [side.url, null],
      [front.url, 'Front'],
    ]);
    expect(await imagesAfter(lamp([side]), lamp([{ url: front.url }]))).toEqual([[front.url, null]]);
    place.remove();
  });

  test('come before a record of another product that names the same sku, as in the file', async () => {
    const place = await createCatalog(kind);
    await place.runHere([
      'import',
      place.file('before.ndjson', lines([{ sku: 'P1', name: 'Mug', price: 1 }])),
    ]);
    const shirt = { sku: 'S', name: 'Shirt', price: 1, variants: [{ sku: 'X', options: { Size: 'S' } }] };
    const file = lines([shirt, { sku: 'X', name: 'Other', price: 1 }, { ...shirt, price: 2 }]);
    const ended = await place.runHere(['import', place.file('p.ndjson', file)]);
    expect(ended.out).toStartWith('1 created, 1 updated, 0 unchanged, 1 rejected');
    expect(ended.err).toMatch(/^line 2: sku: "X" is already the sku of a variant of/m);
    place.remove();
  });
});
