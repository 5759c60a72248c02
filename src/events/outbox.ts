/**
 * The outbox: whatever changes a resource writes down, in the same transaction, what it was, what it is now, and
 * who did it. A change and its event are kept together or lost together; the events are also the audit trail.
 */
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

/** What the service does by itself, or an operator does with the command line. */
export const createCause = (actor: string, at: number): Cause => ({ actor, requestId: null, at });

export interface Change {
  /** The resource's name in the singular: `product`. */
  readonly resource: string;
  readonly resourceId: number;
  /** What has happened to it, in the past tense: `created`, `updated`, `deleted`, `paid`. */
  readonly action: string;
  /** The representation as JSON text; null before the first and after the last. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * @param textOf gives the representation as JSON text
 * @returns a function that gives what happens to a resource of this kind, which is written down
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
 * Members that no representation in an event may have: events are kept for long and read by people. Within a
 * JSON string every quote is escaped, so this matches names of members only.
 */
const secretMember =
  /"(?:password|password_?hash|secret|key|key_?hash|api_?key|token|token_?hash|(?:access|refresh)_?token|authorization)":/i;

/** Resources whose members callers name, or whose `key` is not a credential: they hold no secrets. */
const withoutSecrets: ReadonlySet<string> = new Set(['product', 'variant', 'attribute']);

/** The resources of which some event has a consumer. */
const consumed: ReadonlySet<string> = new Set(
  subscriptions.flatMap(({ types }) => types.map(type => type.slice(0, type.indexOf('.')))),
);
/** The resources of which something is cached, with the collection whose version their events advance. */
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

/** An event as it is stored. */
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
/** All but the id, which the database gives. */
// Boundary: Object.keys types its result as string[]; the record has these keys and no others.
export const eventColumns = Object.keys(shownColumns) as readonly (keyof typeof shownColumns)[];

export interface Outbox {
  /**
   * Writes the change down, notifies caches of it (storage/changes/), and queues it for all who have subscribed to its
   * type. The transaction must have locked what it changes: that is what puts the events of one resource in order.
   * @throws Error when a representation has a member that is a secret by its name
   */
  record(session: Transaction, change: Change, cause: Cause): Promise<void>;
  /** The same for many changes of one kind of resource, in a few statements where they have no consumer. */
  recordAll(session: Transaction, changes: readonly Change[], cause: Cause): Promise<void>;
}

/** The outbox of a process that delivers nothing itself: the command line. */
export const createCommandOutbox = (database: Database): Outbox =>
  createOutbox(database, createQueue(database));

export function createOutbox(database: Pick<Database, 'build' | 'dialect'>, queue: Queue): Outbox {
  const versions = createCollectionVersions(database);
  const columns = [...eventColumns, 'mark'] as const;
  const getValues = (event: NewEvent) => columns.map(name => event[name]);
  const types = { ...shownColumns, mark: 'integer' } as const;
  const insert = createBulkInsert(database, 'events', types, { sizes: insertSizes });
  // By INSERT, however many they are.
  const many = { table: insert.table, statements: insert.statements };

  async function insertWithDeliveries(session: Transaction, event: NewEvent): Promise<void> {
    const [eventId] = await session.insertMany(insert, [getValues(event)]);
    for (const { queue: name, types } of subscriptions) {
      if (!types.includes(event.type)) continue;
      const key = `${event.resource}:${event.resource_id}`;
      await queue.add(session, { queue: name, key, payload: String(eventId), at: event.created_at });
    }
  }

  async function recordAll(session: Transaction, changes: readonly Change[], cause: Cause): Promise<void> {
    const events = changes.map(change => toEvent(change, cause));
    for (const { resource, mark } of events) {
      const collection = collectionOf[resource];
      if (collection !== undefined) versions.advance(session, collection, mark);
    }
    // An id is needed only where there is a consumer. For the whole resource one way or the other: the events of
    // one resource get their ids in the order they are recorded in.
    for (const event of events) if (consumed.has(event.resource)) await insertWithDeliveries(session, event);
    const others = events.filter(({ resource }) => !consumed.has(resource));
    if (others.length > 0) session.writeDeferred(many, others.map(getValues));
  }

  return { recordAll, record: (session, change, cause) => recordAll(session, [change], cause) };
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
