/**
 * Finds what has changed since the last check of this process: the one place that invalidates caches.
 *
 * Changes are read from the events that every write adds in its own transaction (events/outbox.ts), including those of
 * other processes and replicas. Each event has a mark, a random number that the same transaction adds to the version of
 * its collection. If the sum of the marks that were read differs from the growth of the version, something has changed
 * without an event, and everything cached of the collection is dropped (docs/decisions/0023). If there are very many
 * changes, only their ids are read: then the cached rows with these ids are dropped, and all lists.
 */
import type { CompiledQuery } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import type { Change, Changes, CheckedSession, Collection, Listener } from './change.ts';

/** A row that a check reads. */
export interface ChangeRow {
  /**
   * `position`: where the next check continues; `version`: of a collection; `event`: a change, with its mark; `ids`:
   * many changes of one kind of resource, with the sum of their marks.
   */
  readonly kind: 'position' | 'version' | 'event' | 'ids';
  /** The position, the collection, or the singular name of the changed resource. */
  readonly name: string;
  /** The version, the mark, or the sum of marks. */
  readonly number: number;
  /** The id of the event; ids of one row's events are in the order of its changes. For `ids`, the number of events. */
  readonly event: number;
  readonly id: number;
  /** The representation before the change; for `ids`, the ids of the changed rows, separated by commas. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Fewer events than this, such as those of the largest bulk change, are read with representations; else only ids. */
export const maxEvents = 512;
/** Maximum number of statements of one kind in a check. */
const maxPages = 512;

/** A statement that reads events in parts, each of which may see another state. */
export interface Paged {
  /** @param since the position that the last statement returned */
  query(since: string | undefined): CompiledQuery<ChangeRow>;
  /** Maximum number of events: if it reads as many, there may be more after the position that it returns. */
  readonly atOnce: number;
}

export interface ChangeSource {
  /** A number that changes when anything is committed; undefined where only a query can show that. */
  state(): number | undefined;
  readonly read: CheckedSession;
  /** The version of each collection, and the events with their representations. */
  readonly events: Paged;
  /** As `events`, with rows of kind `ids` instead of `event`. */
  readonly ids: Paged;
  /** The statement that returns a row if nothing was committed since; not needed where `state` shows that. */
  readonly unchanged?: (since: string) => CompiledQuery<unknown>;
  /** Makes `read` see what other sessions see; not needed where each of its statements sees all commits. */
  readonly renew?: () => void;
}

interface Followed {
  readonly collection: Collection;
  readonly listeners: Listener[];
  version: number | undefined;
}

export function createChanges(source: ChangeSource): Changes {
  const { state, read, unchanged, renew } = source;
  const followed = new Map<string, Followed>();
  let position: string | undefined;
  /** Whether nothing was committed between the last two checks: the next one then first queries if anything was. */
  let isQuiet = false;
  /** The state that the last check saw. */
  let seen: number | undefined;
  /** A check that has not begun yet, and so serves every request that arrives now. */
  let next: Promise<void> | undefined;
  /** The last work in the queue. */
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one piece of work at a time. */
  function queue<T>(work: () => Promise<T>): Promise<T> {
    const done = last.catch(() => undefined).then(work);
    last = done;
    return done;
  }

  /** Runs a check that is shared by all requests that arrive before it begins. */
  async function checkNext(): Promise<void> {
    // If a check is a query to a server, all requests of this turn of the event loop share it.
    if (state() === undefined) await new Promise(resolve => setImmediate(resolve));
    next = undefined;
    return checkNow(read);
  }

  async function checkNow(session: CheckedSession): Promise<void> {
    const now = state();
    if (isQuiet && position !== undefined && unchanged !== undefined) {
      if ((await session.all(unchanged(position))).length > 0) return;
      isQuiet = false;
    }
    const first = await readChangeRows(session, source.events, position, maxEvents);
    const rows = countEvents(first) < maxEvents ? first : await readChangeRows(session, source.ids, position);
    const found: { readonly entry: Followed; readonly version: number; readonly changes: Found }[] = [];
    for (const entry of followed.values()) {
      const version = getVersion(rows, entry.collection.name);
      const growth = version - (entry.version ?? Number.NaN);
      found.push({ entry, version, changes: await extractChanges(rows, entry.collection, growth) });
    }
    // Synchronously: a request in between might see one collection before, and another after the changes.
    for (const { entry, version, changes } of found) {
      entry.version = version;
      if (changes instanceof Set) for (const listener of entry.listeners) listener(undefined, changes);
      else if (changes?.length !== 0) for (const listener of entry.listeners) listener(changes);
    }
    const before = position;
    position = rows.find(({ kind }) => kind === 'position')?.name;
    isQuiet = position === before;
    seen = now;
  }

  return {
    check() {
      const now = state();
      if (now !== undefined && now === seen) return undefined;
      next ??= queue(checkNext);
      return next;
    },
    checkIn: (session, checked) =>
      queue(async () => {
        await checkNow(session);
        renew?.();
        return checked();
      }),
    uses: { lists: { hits: 0, misses: 0 }, resources: { hits: 0, misses: 0 } },
    version: ({ name }) => followed.get(name)?.version,
    follow(collection, listener) {
      const known = followed.get(collection.name);
      if (known === undefined) {
        followed.set(collection.name, { collection, listeners: [listener], version: undefined });
        // The last check ignored this collection.
        seen = undefined;
        isQuiet = false;
      } else known.listeners.push(listener);
    },
  };
}

function getVersion(rows: readonly ChangeRow[], collection: string): number {
  return rows.find(({ kind, name }) => kind === 'version' && name === collection)?.number ?? 0;
}

/**
 * Reads all changes, in parts. Each statement may see another state: the versions and the position are those of the
 * last one, and the sum of all marks shows whether anything is missing.
 * @param most the number of events after which it stops, even if there may be more
 */
async function readChangeRows(
  session: CheckedSession,
  { query, atOnce }: Paged,
  since: string | undefined,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly ChangeRow[]> {
  const found: ChangeRow[] = [];
  let position = since;
  let events = 0;
  for (let page = 1; ; page++) {
    const rows = await session.all(query(position));
    const count = countEvents(rows);
    events += count;
    if (count < atOnce || events >= most || page === maxPages) return page === 1 ? rows : [...found, ...rows];
    for (const row of rows) if (row.kind === 'event' || row.kind === 'ids') found.push(row);
    position = rows.find(({ kind }) => kind === 'position')?.name;
    await takeTurn();
  }
}

function countEvents(rows: readonly ChangeRow[]): number {
  return rows.reduce((sum, { kind, event }) => sum + (kind === 'event' ? 1 : kind === 'ids' ? event : 0), 0);
}

/** The changes; only the ids of changed rows if there are many; undefined if anything may have changed. */
type Found = readonly Change[] | Set<number> | undefined;

/**
 * Characters of representations that are parsed between two turns of the event loop. Every request waits for the check,
 * so few changes are parsed without a turn.
 */
const readAtOnce = 100_000;

/** @param growth the difference between the versions of this check and the last one */
async function extractChanges(
  rows: readonly ChangeRow[],
  { events }: Collection,
  growth: number,
): Promise<Found> {
  const read = rows
    .filter(({ kind, name }) => (kind === 'event' || kind === 'ids') && name === events?.resource)
    .sort((a, b) => a.event - b.event);
  let marks = 0;
  for (const { number } of read) marks += number;
  if (marks !== growth) return undefined;
  if (events === undefined) return [];
  const many = read.flatMap(({ kind, before }) => (kind === 'ids' && before !== null ? [before] : []));
  if (many.length > 0) return new Set(many.flatMap(list => list.split(',').map(Number)));
  const getValues = (id: number, document: string | null) =>
    document === null ? undefined : events.valuesOf(id, document);
  const changes: Change[] = [];
  let characters = 0;
  const takeTurnFor = (text: string | null) => {
    characters += text?.length ?? 0;
    if (characters <= readAtOnce) return undefined;
    characters = 0;
    return takeTurn();
  };
  try {
    for (const { id, before, after } of read) {
      const due = takeTurnFor(before);
      if (due !== undefined) await due;
      const old = getValues(id, before);
      // A product may have thousands of values.
      const next = takeTurnFor(after);
      if (next !== undefined) await next;
      changes.push({ id, before: old, after: getValues(id, after), document: after });
    }
    return changes;
  } catch {
    // The event is damaged: anything may have changed. Requests for the event itself fail where it is read.
    return undefined;
  }
}
