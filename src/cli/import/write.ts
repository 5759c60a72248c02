/** How an import writes: its batches, each a transaction of its own. */
import { fullGC } from 'bun:jsc';
import { causedBy, outboxOf } from '../../events/outbox.ts';
import { type Look, productImporter } from '../../resources/products/import/index.ts';
import type { ImportCounts } from '../../resources/products/import/plan.ts';
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import { type BulkLoad, StorageError } from '../../storage/database.ts';
import { productTotals } from '../../storage/totals.ts';
import type { BatchWriter } from './run.ts';

const uniqueAttempts = 5;
/** Records after which the heap is collected: left to itself it grows to several times what a batch needs. */
const collectEvery = 4500;

/** Writes batches, each in a transaction of its own. */
export async function batchWriter(load: BulkLoad): Promise<BatchWriter> {
  const { database } = load;
  const importer = productImporter(database, outboxOf(database));
  const existing = await productTotals(database).count(database.read);
  let created = 0;
  let sinceCollection = 0;
  const looks = skuLooks();
  const write = (records: readonly PreparedRecord[], newWords: readonly string[]) =>
    load.write(async session => {
      const plan = await importer.plan(session, records, looks.next());
      await importer.apply(session, plan, newWords, causedBy('import', Date.now()));
      return plan;
    });
  return async (records, newWords) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const plan = await write(records, newWords);
        const { counts } = plan;
        looks.written(counts);
        created += counts.created;
        await load.added(created, existing);
        sinceCollection += records.length;
        if (sinceCollection >= collectEvery) {
          sinceCollection = 0;
          fullGC();
        }
        return plan;
      } catch (error) {
        // A product has one of the skus, perhaps since just now: the next plan finds it.
        const taken = error instanceof StorageError && error.kind === 'unique';
        if (!taken || attempt >= uniqueAttempts) throw error;
        looks.failed();
      }
    }
  };
}

/**
 * Whether a batch looks for products with its skus: a blind one, which fails when there are any, costs a tenth
 * less. After a batch that met none the next is blind; each that fails makes it wait for more such batches.
 */
function skuLooks() {
  let [withoutAny, wanted] = [0, 1];
  return {
    next: (): Look => (withoutAny < wanted ? 'lock' : 'blind'),
    written({ updated, unchanged }: ImportCounts): void {
      withoutAny = updated + unchanged > 0 ? 0 : withoutAny + 1;
    },
    failed(): void {
      withoutAny = 0;
      wanted *= 4;
    },
  };
}
