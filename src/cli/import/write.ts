/** Writes the batches of an import, each in its own transaction. */
import { fullGC } from 'bun:jsc';
import { createCause, createCommandOutbox } from '../../events/outbox.ts';
import { createProductImporter } from '../../resources/products/import/index.ts';
import { createMatchedProducts } from '../../resources/products/import/matching.ts';
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import { type BulkLoad, StorageError } from '../../storage/database.ts';
import { createProductTotals } from '../../storage/totals.ts';
import type { BatchWriter } from './run.ts';

const uniqueAttempts = 5;
/** The heap is collected after this many records: otherwise it grows to several times what a batch needs. */
const collectEvery = 2000;

export async function createBatchWriter(load: BulkLoad): Promise<BatchWriter> {
  const { database } = load;
  const importer = createProductImporter(database, createCommandOutbox(database));
  const matched = createMatchedProducts();
  const existing = await createProductTotals(database).count(database.read);
  let created = 0;
  let sinceCollection = 0;
  const write = (records: readonly PreparedRecord[]) =>
    load.write(async session => {
      const plan = await importer.plan(session, records, 'lock', matched);
      const ids = await importer.apply(session, plan, records, createCause('import', Date.now()));
      return { plan, ids };
    });
  async function writeWithRetries(records: readonly PreparedRecord[]) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write(records);
      } catch (error) {
        // Another process has just created a product with one of the skus: the next plan finds it.
        const taken = error instanceof StorageError && error.kind === 'unique';
        if (!taken || attempt >= uniqueAttempts) throw error;
      }
    }
  }
  return {
    async write(records) {
      const { plan, ids } = await writeWithRetries(records);
      // Only after the commit: a retried transaction must not see what its own records matched.
      matched.add(plan.matched);
      matched.add(ids);
      created += plan.counts.created;
      await load.added(created, existing);
      sinceCollection += records.length;
      if (sinceCollection >= collectEvery) {
        sinceCollection = 0;
        fullGC();
      }
      return plan;
    },
    pass: async skus => matched.add(await importer.findIds(database.read, skus)),
  };
}
