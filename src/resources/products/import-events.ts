/**
 * The events of products that an import creates: written by the database from its own rows, many at a time.
 * Nobody subscribes to them (events/subscriptions.ts), so that none has to be queued.
 */
import { type CompiledQuery, sql } from 'kysely';
import type { Cause } from '../../events/outbox.ts';
import type { Database, Session } from '../../storage/database.ts';

/**
 * @param sizes how many products one statement may be given
 * @returns a function that writes `product.created` for products just inserted
 */
export function createdEvents({ build }: Database, sizes: readonly number[]) {
  const statements = new Map<number, CompiledQuery<unknown>>(
    sizes.map(size => {
      const ids = sql.join(Array.from({ length: size }, () => sql`${null}`));
      const statement = sql`insert into events
        (type, resource, resource_id, actor, request_id, old_document, new_document, created_at)
        select 'product.created', 'product', id, ${null}, ${null}, null, '{"id":' || id || ',' || document, updated_at
        from products where id in (${ids})`;
      return [size, statement.compile(build)];
    }),
  );
  return async (session: Session, products: readonly { readonly id: number }[], cause: Cause) => {
    const statement = statements.get(products.length);
    if (statement === undefined) throw new Error(`no statement takes ${products.length} products`);
    const parameters = [cause.actor, cause.requestId, ...products.map(({ id }) => id)];
    await session.run({ ...statement, parameters });
  };
}
