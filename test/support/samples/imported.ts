/** Many products at once, as an import creates them. */
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { createProductImporter } from '../../../src/resources/products/import/index.ts';
import { createRecordCheck, prepareRecord } from '../../../src/resources/products/import/prepared.ts';
import type { TestService } from '../service/service.ts';

/** Writes the products in one transaction. @param at their time, in epoch milliseconds */
export async function importProducts(
  { database }: Pick<TestService, 'database'>,
  records: readonly Readonly<Record<string, unknown>>[],
  at = 0,
): Promise<void> {
  const checkRecord = createRecordCheck();
  const prepared = records.map(record => {
    const checked = checkRecord(record);
    if (!('name' in checked)) throw new Error(JSON.stringify(checked));
    return prepareRecord(checked, 'EUR', at);
  });
  const importer = createProductImporter(database, createCommandOutbox(database));
  await database.write(async session => {
    const plan = await importer.plan(session, prepared, 'lock');
    await importer.apply(session, plan, [], createCause('import', at));
  });
}
