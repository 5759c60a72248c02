/** The queries for reading events; events/outbox.ts writes them. */
import { eventColumns as columns, type StoredEvent } from '../../events/outbox.ts';
import { requireWhole } from '../../storage/damage.ts';
import type { Database, Session } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import type { Listed, ListRequest } from '../../storage/list/request.ts';
import { toIsoDate } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { storedProduct } from '../products/members/stored.ts';
import type { ShortForm } from '../short-form.ts';
import { storedVariant } from '../variants/stored.ts';

/** Resources whose events store them in the short form of their rows. */
const stored: Readonly<Record<string, Pick<ShortForm<never>, 'shown'>>> = {
  product: storedProduct,
  variant: storedVariant,
};

/** The resource in an event, as JSON text. @throws StorageError `damaged` */
function toShownJson({ resource, resource_id: id }: StoredEvent, document: string | null): string {
  if (document === null) return 'null';
  return stored[resource]?.shown(id, document) ?? requireWhole(document);
}

/** The representation as JSON text. @throws StorageError `damaged` if one of its documents is not valid */
export function toEventJson(row: StoredEvent): string {
  const start = JSON.stringify({
    id: row.id,
    type: row.type,
    resource: row.resource,
    resourceId: row.resource_id,
    actor: row.actor,
    requestId: row.request_id,
  }).slice(0, -1);
  const createdAt = toIsoDate(row.created_at);
  return `${start},"before":${toShownJson(row, row.old_document)},"after":${toShownJson(row, row.new_document)},"createdAt":"${createdAt}"}`;
}

export function createEventStore(database: Database) {
  const { build, dialect, read } = database;
  const all = createLister<StoredEvent>(database, {
    table: 'events',
    columns,
    longColumns: ['old_document', 'new_document'],
  });
  const settled = dialect.followed?.last('events').compile(build);
  const byId = prepareQuery<{ id: number }, StoredEvent>(build, argument =>
    build
      .selectFrom('events')
      .select(['id', ...columns])
      .where('id', '=', argument.id),
  );
  return {
    /** Only events that no later commit can precede: a client that has read up to one by cursor has missed none. */
    async list(request: ListRequest): Promise<Listed<StoredEvent>> {
      const { conditions, order } = request;
      if (settled === undefined) {
        // The times of a resource's events are not in an index, and follow long texts in their rows.
        const isSorted =
          order.column === 'created_at' && conditions.some(({ column }) => column === 'resource_id');
        return all(isSorted ? { ...request, inBackground: true } : request);
      }
      const last = (await read.first(settled))?.id ?? 0;
      const upToLast = { column: 'id', operator: '<=', value: last } as const;
      return all({ ...request, conditions: [...conditions, upToLast] });
    },
    find: (session: Session, id: number) => session.first(byId({ id })),
  };
}
