/** The queries of events, for those who read them; events/outbox.ts writes them. */
import { eventColumns as columns, type StoredEvent } from '../../events/outbox.ts';
import type { Database, Session } from '../../storage/database.ts';
import { type Lister, lister } from '../../storage/list.ts';
import { prepared } from '../../storage/prepared.ts';

export interface EventStore {
  readonly list: Lister<StoredEvent>;
  find(session: Session, id: number): Promise<StoredEvent | undefined>;
}

/** The representation as JSON text; the documents are JSON text already. */
export function eventJson(row: StoredEvent): string {
  const start = JSON.stringify({
    id: row.id,
    type: row.type,
    resource: row.resource,
    resourceId: row.resource_id,
    actor: row.actor,
    requestId: row.request_id,
  }).slice(0, -1);
  const createdAt = new Date(row.created_at).toISOString();
  return `${start},"before":${row.old_document ?? 'null'},"after":${row.new_document ?? 'null'},"createdAt":"${createdAt}"}`;
}

export function eventStore(database: Database): EventStore {
  const byId = prepared<{ id: number }, StoredEvent>(argument =>
    database.build
      .selectFrom('events')
      .select(['id', ...columns])
      .where('id', '=', argument.id),
  );
  return {
    list: lister<StoredEvent>(database, { table: 'events', columns }),
    find: (session, id) => session.first(byId({ id })),
  };
}
