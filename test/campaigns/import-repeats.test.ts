/** Random files with several records of one product: the result is the same as that of importing them one after another. */
import { expect, test } from 'bun:test';
import { random } from '../../bench/load/random.ts';
import { createCatalog, ndjsonOf, type Place, productsOf, variantsOf } from '../cli/program.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { countDraws } from './share.ts';

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

/** The member with a value, without it, or with an explicit null. */
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

function identityDrawn(product: string): object {
  // P4 is identified by its external id only; P5, which already exists, by either.
  if (product === 'P4') return { externalId: 'E4' };
  if (product === 'P5') return isDrawn(2) ? { sku: 'P5' } : { externalId: 'E5' };
  return { sku: product, ...maybe('externalId', () => `E${product}`) };
}

function recordDrawn(): object {
  const product = oneOf(['P1', 'P2', 'P3', 'P4', 'P5']);
  return {
    ...(isDrawn(8) ? {} : { name: `Product ${draw.integer(1, 5)}` }),
    price: draw.integer(8, 14),
    ...identityDrawn(product),
    ...maybe('description', () => oneOf(['One', 'Two', ''])),
    ...maybe('category', () => oneOf(['a', 'b', 'c'])),
    ...maybe('categories', () => someOf(['a', 'b', 'c'], 3)),
    ...maybe('attributes', () => ({ [oneOf(['colour', 'size'])]: draw.integer(1, 3) })),
    ...maybe('images', () => someOf(urls, 3).map(imageDrawn)),
    // P4 has stock of its own; the others have variants.
    ...(product === 'P4' ? maybe('stock', () => ({ onHand: draw.integer(0, 2) })) : {}),
    ...(product !== 'P4' && isDrawn(3) ? { variants: variantsDrawn(product) } : {}),
  };
}

const before = [
  { sku: 'P0', name: 'Old', price: 1 },
  { sku: 'P5', externalId: 'E5', name: 'Old', price: 1 },
];

/** Each file starts with a record of a product that already exists. */
const files = Array.from({ length: countDraws(3) }, () =>
  ndjsonOf([{ sku: 'P0', name: 'New', price: 1 }, ...Array.from({ length: 30 }, recordDrawn)]),
);

/** The contents of a catalog without ids and times, sorted by sku or external id. */
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

describeOnDatabases('records that repeat the sku of an earlier record on %s', kind => {
  test('give the same result from a file, from a stream and one at a time', async () => {
    const places = await Promise.all(ways.map(() => createCatalog(kind)));
    for (const place of places)
      await place.runHere(['import', place.file('before.ndjson', ndjsonOf(before))]);
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
    // The schema refuses some, and the contents of the catalog others.
    expect(rejected).toBeGreaterThan(2 * files.length);
    for (const place of places) {
      expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
      place.remove();
    }
  }, 120_000);
});
