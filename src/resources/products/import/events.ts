/**
 * The events of products that an import creates: written by the database from its own rows, many at a time.
 * Nobody subscribes to them (events/subscriptions.ts), so that none has to be queued.
 */
import { sql } from 'kysely';
import type { Cause } from '../../../events/outbox.ts';
import type { Database, Session } from '../../../storage/database.ts';
import { prepared } from '../../../storage/prepared.ts';

/** @returns a function that writes `product.created` for products just inserted; their ids ascend */
export function createdEvents({ build }: Database) {
  type Values = { first: number; last: number; actor: string; requestId: string | null };
  const statement = prepared<Values, unknown>(argument => ({
    compile: () =>
      sql`insert into events
        (type, resource, resource_id, actor, request_id, old_document, new_document, created_at)
        select 'product.created', 'product', id, ${argument.actor}, ${argument.requestId}, null,
          '{"id":' || id || ',' || document, updated_at
        from products where id >= ${argument.first} and id <= ${argument.last} order by id`.compile(build),
  }));
  return async (session: Session, ids: readonly number[], { actor, requestId }: Cause) => {
    for (const { first, last } of stretches(ids)) {
      await session.run(statement({ first, last, actor, requestId }));
    }
  };
}

/** Ids without a gap between them: on PostgreSQL another transaction may have been given some in between. */
function* stretches(ids: readonly number[]): Generator<{ first: number; last: number }> {
  let first = ids[0];
  for (const [index, last] of ids.entries()) {
    if (ids[index + 1] === last + 1) continue;
    if (first !== undefined) yield { first, last };
    first = ids[index + 1];
  }
}
