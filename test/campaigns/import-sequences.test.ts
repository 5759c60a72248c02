/**
 * Random files imported one after another into a small catalog: skus, external ids and options change hands, and
 * prices, stocks and attributes are often incomplete. The result does not depend on the size of a batch, and importing
 * a file again changes nothing if it names each product once.
 */
import { expect, test } from 'bun:test';
import { random } from '../../bench/load/random.ts';
import {
  createCatalog,
  ndjsonOf,
  type Place,
  productsOf,
  variantsOf,
  versionOf,
  writtenIn,
} from '../cli/program.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import type { DatabaseKind } from '../support/service/service.ts';
import { countDraws } from './share.ts';

const rounds = countDraws(6);
const steps = 6;
const externalIds = ['1', '2', '3', '4', '5'];
const sizes = ['S', 'M', 'L', 'XL', 'XXL', '3XL'];
const draw = random(5);

const isDrawn = (of: number): boolean => draw.integer(1, of) === 1;

function someOf<Item>(items: readonly Item[], most: number): Item[] {
  const left = [...items];
  return Array.from({ length: Math.min(most, left.length) }, () =>
    left.splice(draw.integer(0, left.length - 1), 1),
  ).flat();
}

/** Most skus are exchanged within a product, some between products. */
const skusOf = (externalId: string): string[] =>
  someOf(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'], sizes.length + 1).map(
    letter => `${letter}${isDrawn(12) ? draw.integer(1, externalIds.length) : externalId}`,
  );

const pieces = () =>
  isDrawn(3)
    ? {
        stock: {
          ...(isDrawn(4) ? {} : { onHand: draw.integer(0, 2) }),
          ...(isDrawn(3) ? { backorder: isDrawn(2) } : {}),
        },
      }
    : {};

/** Few values, so that a price is often that of another product, of a variant, or the one shown. */
const price = () => draw.integer(1, 6);

/** One column for each attribute, as in a table. */
const attributes = () =>
  Object.fromEntries(someOf(['a', 'b', 'c'], draw.integer(0, 2)).map(key => [`attributes.${key}`, price()]));

function variantsDrawn(skus: readonly string[]): object[] {
  return someOf(sizes, draw.integer(1, sizes.length)).map((Size, index) => ({
    options: { Size },
    ...(isDrawn(6) ? {} : { sku: skus[index] }),
    ...(isDrawn(2) ? { price: isDrawn(4) ? null : price() } : {}),
    ...pieces(),
  }));
}

/**
 * @param hasSkus whether all, some or none of the products have skus of their own
 * @param repeats whether the file has several records of a product
 */
function fileDrawn(hasSkus: 'all' | 'none' | 'some', repeats: boolean): object[] {
  const had = new Set<string>();
  const named = someOf(externalIds, draw.integer(1, 3));
  const all = repeats ? [...named, ...someOf(named, 2), ...someOf(named, 1)] : named;
  return all.flatMap(externalId => {
    const [own = '', ...others] = skusOf(externalId);
    if (had.has(own)) return [];
    had.add(own);
    const hasVariants = !isDrawn(3);
    return {
      ...{ externalId, name: `Product ${draw.integer(1, 3)}`, price: price() },
      ...(isDrawn(4) ? { basePrice: price() } : {}),
      ...(hasSkus === 'all' || (hasSkus === 'some' && isDrawn(2)) ? { sku: own } : {}),
      ...(isDrawn(2) ? pieces() : {}),
      ...attributes(),
      ...(isDrawn(3) ? { images: someOf(['https://a.example/1', 'https://a.example/2'], 2) } : {}),
      ...(hasVariants ? { variants: variantsDrawn(hasSkus === 'none' ? [own, ...others] : others) } : {}),
    };
  });
}

/** The contents of a catalog without times and the ids of variants: the variants of a product stay in order. */
async function contentsOf(place: Place): Promise<object> {
  const products = await productsOf(place);
  const variants = await variantsOf(place);
  return {
    products: products.map(({ createdAt: _created, updatedAt: _updated, ...product }) => product),
    // The products' own prices, although others may be shown.
    prices: (await writtenIn(place)).map(({ price: own }) => own),
    variants: variants.map(({ id: _id, createdAt: _created, updatedAt: _updated, ...variant }) => variant),
  };
}

/** @returns how many files were accepted completely and changed nothing the second time */
async function importOneAfterAnother(kind: DatabaseKind): Promise<number> {
  const [single, whole] = [await createCatalog(kind), await createCatalog(kind)];
  let accepted = 0;
  for (let step = 0; step < steps; step++) {
    const hasSkus = someOf(['all', 'none', 'some'] as const, 1)[0] ?? 'all';
    // In an empty catalog, records of one product are not written together.
    const repeats = step === 0 || isDrawn(4);
    const file = fileDrawn(hasSkus, repeats);
    const text = ndjsonOf(file);
    const run = async (place: Place, batch: string) => {
      const path = place.file('p.ndjson', text);
      const ended = await place.runHere(['import', path, '--batch', batch]);
      const failed = `after step ${step}, ${batch} at once:\n${text}`;
      expect({ failed, ...ended, isOver: ended.status === 0 || ended.status === 2 }).toMatchObject({
        failed,
        isOver: true,
      });
      expect({ failed, ...(await place.runHere(['check'])) }).toMatchObject({ failed, status: 0 });
      return { ...ended, failed, contents: await contentsOf(place) };
    };
    const [one, all] = [await run(single, '1'), await run(whole, '100')];
    expect({ text, contents: all.contents }).toEqual({ text, contents: one.contents });
    expect(all.status).toBe(one.status);
    if (all.status !== 0 || hasSkus === 'some' || repeats) continue;
    accepted += 1;
    for (const [place, batch, before] of [
      [single, '1', one],
      [whole, '100', all],
    ] as const) {
      const version = await versionOf(place);
      const { out, contents } = await run(place, batch);
      expect({ text, out }).toMatchObject({
        text,
        out: expect.stringContaining(`0 created, 0 updated, ${file.length} unchanged`),
      });
      expect(contents).toEqual(before.contents);
      expect(await versionOf(place)).toBe(version);
    }
  }
  single.remove();
  whole.remove();
  return accepted;
}

describeOnDatabases('consecutive imports on %s', kind => {
  test('give the same result, one record at a time or all at once', async () => {
    let accepted = 0;
    for (let round = 0; round < rounds; round++) accepted += await importOneAfterAnother(kind);
    expect(accepted).toBeGreaterThan(rounds / 3);
  }, 120_000);
});
