/** Records of one sku that are too far apart in a file for one transaction of an import to hold both. */
import { expect, test } from 'bun:test';
import { createCatalog, createPlace } from '../../cli/program.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

/** More records between the two than one transaction of an import holds. */
const between = Array.from({ length: 3500 }, (_, index) => `F${index},Filler ${index},1`);
const far = [
  'sku,name,price',
  'TWICE,First,1',
  'SAME,Same,1',
  ...between,
  'TWICE,Second,2',
  'SAME,Same,1',
].join('\n');

describeOnDatabases('a sku that comes twice in a long file, on %s', kind => {
  test.each(['no catalog', 'an empty catalog'])('a dry run counts it as the import does: %s', async name => {
    const place = name === 'no catalog' ? await createPlace(kind) : await createCatalog(kind);
    const file = place.file('p.csv', far);
    const counts = '3502 created, 1 updated, 1 unchanged, 0 rejected';
    for (const options of [['--dry-run'], []]) {
      const { out } = await place.runHere(['import', file, ...options]);
      expect([options, out.replaceAll(',', '')]).toEqual([
        options,
        expect.stringContaining(counts.replaceAll(',', '')),
      ]);
    }
    place.remove();
  });
});
