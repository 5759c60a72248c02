/** Products identified only by the SKUs of their variants: an import of an export finds them by these. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, ndjsonOf, type Place, productsOf, variantsOf, versionOf } from '../program.ts';

/** @param variants `SKU size`, or `- size` for a variant without an SKU */
const shirt = (name: string, ...variants: readonly string[]) => ({
  ...{ name, price: 10, options: [{ name: 'Size', values: ['S', 'M', 'L'] }] },
  variants: variants.map(text => {
    const [sku, Size] = text.split(' ');
    return { ...(sku === '-' ? {} : { sku }), options: { Size } };
  }),
});

const importRecords = (place: Place, ...records: readonly object[]) =>
  place.runHere(['import', place.file('in.ndjson', ndjsonOf(records))]);

const shown = async (place: Place) => {
  const sold = await variantsOf(place);
  return (await productsOf(place)).map(({ id, name }) => [
    name,
    ...sold.filter(({ productId }) => productId === id).map(({ sku, options }) => `${sku} ${options.Size}`),
  ]);
};

describeOnDatabases('products without a sku of their own on %s', kind => {
  test.each(['csv', 'ndjson', 'json'])('an import of an export as %s changes nothing', async format => {
    const [from, to] = [await createCatalog(kind), await createCatalog(kind)];
    const records = [shirt('Tee', 'T-1 S', 'T-2 M'), shirt('Polo', 'P-1 S', '- M'), shirt('Top', '- S')];
    expect(await importRecords(from, ...records)).toMatchObject({ status: 0 });
    const file = join(from.folder, `out.${format}`);
    expect((await from.runHere(['export', '--output', file])).err).toBe(
      `3 products written to ${file}\n1 of 3 products has neither sku nor externalId, nor a variant with a sku: ` +
        'another catalog creates it each time it imports this export\n',
    );
    expect((await to.runHere(['import', file])).out).toContain('3 created, 0 updated, 0 unchanged');
    const before = [await productsOf(from), await variantsOf(from), await versionOf(from)];
    for (const options of [['--dry-run'], [], ['--batch', '1']]) {
      expect((await from.runHere(['import', file, ...options])).out).toContain(
        '0 created, 0 updated, 3 unchanged, 0 rejected',
      );
      expect([await productsOf(from), await variantsOf(from), await versionOf(from)]).toEqual(before);
    }
    const copied = [await productsOf(to), await variantsOf(to)];
    expect((await to.runHere(['import', file, '--dry-run'])).out).toContain(
      '1 created, 0 updated, 2 unchanged',
    );
    expect((await to.runHere(['import', file])).out).toContain('1 created, 0 updated, 2 unchanged');
    expect((await shown(to)).at(-1)).toEqual(['Top', 'null S']);
    expect([(await productsOf(to)).slice(0, 3), (await variantsOf(to)).slice(0, 5)]).toEqual(copied);
    for (const place of [from, to]) expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    from.remove();
    to.remove();
  });

  test('are found by some of their variants’ skus, and the rest of the record is applied', async () => {
    const place = await createCatalog(kind);
    await importRecords(place, { name: 'Other', price: 1, sku: 'O' }, shirt('Tee', 'T-1 S', 'T-2 M'));
    const ended = await importRecords(place, { ...shirt('New', 'T-2 M', 'T-3 L'), brand: 'Acme' });
    expect(ended.out).toContain('0 created, 1 updated, 0 unchanged, 0 rejected');
    expect(await shown(place)).toEqual([['Other'], ['New', 'T-1 S', 'T-2 M', 'T-3 L']]);
    // A record finds the product that the previous record of the file created.
    const more = await importRecords(place, shirt('Cap', 'C-1 S'), shirt('Hat', 'C-2 M', 'C-1 S'));
    expect(more.out).toContain('1 created, 1 updated, 0 unchanged, 0 rejected');
    expect((await shown(place)).at(-1)).toEqual(['Hat', 'C-1 S', 'C-2 M']);
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    place.remove();
  });

  test('reject a record with variant skus of several products, or with the sku of a product', async () => {
    const place = await createCatalog(kind);
    const before = [shirt('Tee', 'T-1 S'), shirt('Polo', 'P-1 M'), { name: 'Cap', price: 1, sku: 'C' }];
    await importRecords(place, ...before);
    const ended = await importRecords(place, shirt('X', 'P-1 M', 'T-1 S'), shirt('Y', 'C L'));
    expect(ended.err).toContain(
      'line 1: variants: have skus of several products, product 2 and product 1 among them',
    );
    expect(ended.err).toContain('line 2: sku: "C" is already the sku of product 3');
    expect(ended).toMatchObject({ status: 2, out: expect.stringContaining('0 unchanged, 2 rejected') });
    expect(await shown(place)).toEqual([['Tee', 'T-1 S'], ['Polo', 'P-1 M'], ['Cap']]);
    place.remove();
  });
});

test('an export reports how many products another catalog would create again, and that one creates them', async () => {
  const [place, other] = [await createCatalog('sqlite'), await createCatalog('sqlite')];
  const rows = ['name,price,sku,externalId', 'A,1,S-1,', 'B,2,,E-2', 'C,3,,', 'D,4,,', ''];
  await place.runHere(['import', place.file('in.csv', rows.join('\n'))]);
  const out = join(place.folder, 'out.csv');
  const end = 'neither sku nor externalId, nor a variant with a sku: another catalog creates';
  const note = `2 of 4 products have ${end} them each time it imports this export\n`;
  expect((await place.runHere(['export', '--output', out])).err).toBe(
    `4 products written to ${out}\n${note}`,
  );
  expect((await place.run(['export', '--format', 'ndjson'])).err).toBe(note);
  expect((await place.runHere(['import', out])).out).toStartWith('0 created, 0 updated, 4 unchanged');
  for (const counts of ['4 created, 0 updated, 0 unchanged', '2 created, 0 updated, 2 unchanged'])
    expect((await other.runHere(['import', out])).out).toStartWith(counts);
  for (const command of ['export', 'import'])
    expect((await place.runHere([command, '--help'])).out.replaceAll(/\s+/g, ' ')).toContain(
      'id and createdAt',
    );
  const alone = await createCatalog('sqlite');
  await alone.runHere(['import', alone.file('in.csv', 'name,price\nA,1\n')]);
  const one = join(alone.folder, 'out.json');
  expect((await alone.runHere(['export', '--output', one])).err).toBe(
    `1 product written to ${one}\n1 of 1 product has ${end} it each time it imports this export\n`,
  );
  for (const some of [alone, other, place]) some.remove();
});
