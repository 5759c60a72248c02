/**
 * The outbox: a transaction that changes a resource also records its old and new representation and the actor. A change
 * and its event are committed or rolled back together; the events are also the audit trail.
 */
import { getMemberNames } from '../json-object.ts';
import { type ColumnType, createBulkInsert } from '../storage/bulk.ts';
import { createCollectionVersions, createMark } from '../storage/changes/versions.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { createQueue, type Queue } from './queue.ts';
import { subscriptions } from './subscriptions.ts';

/** The actor of a change, its request, and when it was made. */
export interface Cause {
  /** `user:5`, `key:3`, `ip:192.0.2.1` for callers without credentials, or the name of a part of the service. */
  readonly actor: string;
  readonly requestId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The cause of a change by the service itself, or by an operator on the command line. */
export const createCause = (actor: string, at: number): Cause => ({ actor, requestId: null, at });

export interface Change {
  /** The resource's name in the singular: `product`. */
  readonly resource: string;
  readonly resourceId: number;
  /** What happened to the resource, in the past tense: `created`, `updated`, `deleted`, `paid`. */
  readonly action: string;
  /** The representation as JSON text. `before` is null for a creation, `after` for a deletion. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * @param textOf the representation of a row as JSON text
 * @returns a function that builds the change to record for a resource of this kind
 */
export function createChangeBuilder<Row extends { readonly id: number }>(
  resource: string,
  textOf: (row: Row) => string,
) {
  return (action: string, before: Row | undefined, after: Row | undefined): Change => ({
    resource,
    resourceId: (after ?? before)?.id ?? 0,
    action,
    before: before === undefined ? null : textOf(before),
    after: after === undefined ? null : textOf(after),
  });
}

/**
 * Members that no representation in an event may have: events are kept for long and read by people. Every quote within
 * a JSON string is escaped, so this matches only names of members.
 */
const secretMember =
  /"(?:password|password_?hash|secret|key|key_?hash|api_?key|token|token_?hash|(?:access|refresh)_?token|authorization)":/i;

/**
 * Resources without secrets: callers choose names of their members, such as those of options in items of orders, or
 * their `key` is not a credential.
 */
const withoutSecrets: ReadonlySet<string> = new Set(['product', 'variant', 'attribute', 'order', 'invoice']);

/** Resources with at least one event type that has a consumer. */
const consumed: ReadonlySet<string> = new Set(
  subscriptions.flatMap(({ types }) => types.map(type => type.slice(0, type.indexOf('.')))),
);
/** Cached resources, with the collection whose version their events advance. */
const collectionOf: Readonly<Record<string, string>> = {
  product: 'products',
  variant: 'variants',
  attribute: 'attributes',
  article: 'articles',
  post: 'posts',
  category: 'categories',
  synonym: 'synonyms',
};
/** Events per INSERT, largest first. */
const insertSizes = [64, 32, 16, 8, 4, 2, 1] as const;

export interface StoredEvent {
  readonly id: number;
  /** `<resource>.<action>` */
  readonly type: string;
  readonly resource: string;
  readonly resource_id: number;
  readonly actor: string;
  readonly request_id: string | null;
  readonly old_document: string | null;
  readonly new_document: string | null;
  readonly created_at: number;
}

type NewEvent = Omit<StoredEvent, 'id'> & { readonly mark: number };

const shownColumns = {
  type: 'text',
  resource: 'text',
  resource_id: 'integer',
  actor: 'text',
  request_id: 'text',
  old_document: 'text',
  new_document: 'text',
  created_at: 'double precision',
} as const satisfies { readonly [Column in Exclude<keyof StoredEvent, 'id'>]: ColumnType };
/** All columns except the id, which the database assigns. */
export const eventColumns = getMemberNames(shownColumns);

export type Outbox = ReturnType<typeof createOutbox>;

/** The outbox of a process that delivers nothing itself: the command line. */
export const createCommandOutbox = (database: Database): Outbox =>
  createOutbox(database, createQueue(database));

export function createOutbox(database: Pick<Database, 'build' | 'dialect'>, queue: Queue) {
  const versions = createCollectionVersions(database);
  const columns = [...eventColumns, 'mark'] as const;
  const getValues = (event: NewEvent) => columns.map(name => event[name]);
  const types = { ...shownColumns, mark: 'integer' } as const;
  const insert = createBulkInsert(database, 'events', types, { sizes: insertSizes });
  // By INSERT, whatever their number.
  const many = { table: insert.table, statements: insert.statements };

  async function insertWithDeliveries(session: Transaction, event: NewEvent): Promise<void> {
    const [eventId] = await session.insertMany(insert, [getValues(event)]);
    for (const { queue: name, types } of subscriptions) {
      if (!types.includes(event.type)) continue;
      const key = `${event.resource}:${event.resource_id}`;
      await queue.add(session, { queue: name, key, payload: String(eventId), at: event.created_at });
    }
  }

  /** Records many changes of one kind of resource, in a few statements if they have no consumer. */
  async function recordAll(session: Transaction, changes: readonly Change[], cause: Cause): Promise<void> {
    const events = changes.map(change => toEvent(change, cause));
    for (const { resource, mark } of events) {
      const collection = collectionOf[resource];
      if (collection !== undefined) versions.advance(session, collection, mark);
    }
    // Only events with a consumer need their id at once. The choice is made per resource: the ids of a resource's
    // events must follow the order in which they are recorded.
    for (const event of events) if (consumed.has(event.resource)) await insertWithDeliveries(session, event);
    const others = events.filter(({ resource }) => !consumed.has(resource));
    if (others.length > 0) session.writeDeferred(many, others.map(getValues));
  }

  return {
    /**
     * Records the change, notifies caches (storage/changes/), and queues it for every subscriber to its type. The
     * transaction must have locked the changed rows: the lock puts the events of a resource in order.
     * @throws Error when a representation has a member whose name denotes a secret
     */
    record: (session: Transaction, change: Change, cause: Cause): Promise<void> =>
      recordAll(session, [change], cause),
    recordAll,
  };
}

function toEvent(
  { resource, resourceId, action, before, after }: Change,
  { actor, requestId, at }: Cause,
): NewEvent {
  const type = `${resource}.${action}`;
  const isOpen = withoutSecrets.has(resource);
  for (const document of [before, after]) {
    const secret = document === null || isOpen ? undefined : secretMember.exec(document)?.[0];
    if (secret !== undefined) throw new Error(`an event of ${type} must not hold ${secret.slice(0, -1)}`);
  }
  return {
    type,
    resource,
    resource_id: resourceId,
    actor,
    request_id: requestId,
    old_document: before,
    new_document: after,
    created_at: at,
    mark: resource in collectionOf ? createMark() : 0,
  };
}
