/** Very many products at once, as an import makes them. */
import { causedBy, outboxOf } from '../../src/events/outbox.ts';
import { productImporter } from '../../src/resources/products/import/index.ts';
import { checkRecord, recordPreparer } from '../../src/resources/products/import/prepared.ts';
import type { TestService } from './service.ts';

/** In one transaction. @param at when, epoch milliseconds */
export async function importProducts(
  { database }: Pick<TestService, 'database'>,
  records: readonly Readonly<Record<string, unknown>>[],
  at = 0,
): Promise<void> {
  const { prepare } = recordPreparer('EUR');
  const prepared = records.map(record => {
    const checked = checkRecord(record);
    if (!('name' in checked)) throw new Error(JSON.stringify(checked));
    return prepare(checked, at);
  });
  const importer = productImporter(database, outboxOf(database));
  await database.write(async session => {
    const plan = await importer.plan(session, prepared, 'lock');
    await importer.apply(session, plan, [], causedBy('import', at));
  });
}
