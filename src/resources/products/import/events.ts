/**
 * The events of products that an import creates, written by the database from its own rows, many at a time. No consumer
 * subscribes to them (events/subscriptions.ts), so none has to be queued.
 */
import { sql } from 'kysely';
import type { Cause } from '../../../events/outbox.ts';
import { createCollectionVersions, createMark } from '../../../storage/changes/versions.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import { prepareQuery } from '../../../storage/prepared.ts';

/** @returns a function that writes `product.created` for products just inserted; their ids must be ascending */
export function createCreationEventWriter(database: Database) {
  const { build } = database;
  const versions = createCollectionVersions(database);
  type Values = { first: number; last: number; actor: string; requestId: string | null; mark: number };
  const statement = prepareQuery<Values, unknown>(
    build,
    argument => sql`insert into events
        (type, resource, resource_id, actor, request_id, old_document, new_document, created_at, mark)
        select 'product.created', 'product', id, ${argument.actor}, ${argument.requestId}, null,
          document, updated_at, ${argument.mark}
        from products where id >= ${argument.first} and id <= ${argument.last} order by id`,
  );
  return async (session: Transaction, ids: readonly number[], { actor, requestId }: Cause) => {
    const mark = createMark();
    for (const { first, last } of splitIntoStretches(ids))
      await session.run(statement({ first, last, actor, requestId, mark }));
    versions.advance(session, 'products', mark * ids.length);
  };
}

/** Runs of consecutive ids: on PostgreSQL, another transaction may have taken ids in between. */
function* splitIntoStretches(ids: readonly number[]): Generator<{ first: number; last: number }> {
  let first = ids[0];
  for (const [index, last] of ids.entries()) {
    if (ids[index + 1] === last + 1) continue;
    if (first !== undefined) yield { first, last };
    first = ids[index + 1];
  }
}
