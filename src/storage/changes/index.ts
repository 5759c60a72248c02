/**
 * What has changed since this process last checked: the one place that invalidates caches.
 *
 * Changes are read from the events that every write leaves in its own transaction (events/outbox.ts), also those of
 * other processes and replicas. Each event carries a mark, a random number that the same transaction adds to the version
 * of its collection. If the marks that were read do not sum to the growth of the version, something has changed without an
 * event, and all that is cached of the collection is dropped (docs/decisions/0023). Of very many changes only the ids are
 * read: the cached rows with these ids are dropped, and all lists.
 */
import type { CompiledQuery } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import type { Change, Changes, CheckedSession, Collection, Listener } from './change.ts';

/** A row of what is read at each check. */
export interface ChangeRow {
  /**
   * `position`: where the next check goes on; `version`: of a collection; `event`: a change, with its mark; `ids`: many
   * changes of one kind of resource, with the sum of their marks.
   */
  readonly kind: 'position' | 'version' | 'event' | 'ids';
  /** The position; the collection; the changed resource's name in the singular. */
  readonly name: string;
  /** The version, the mark, or the sum of marks. */
  readonly number: number;
  /** The event's id: those of one row are in the order of its changes. Of `ids`, how many events they are. */
  readonly event: number;
  readonly id: number;
  /** The representation before; of `ids`, the ids of what has changed, separated by commas. */
  readonly before: string | null;
  readonly after: string | null;
}

/** So many events are read with their representations, those of the largest bulk change: of more, only the ids. */
export const mostEvents = 512;
/** So many statements read what one check is about, at most. */
const mostPages = 128;

/** A statement that reads events, some at a time: each sees another state. */
export interface Paged {
  /** @param since the position that the last one gave */
  query(since: string | undefined): CompiledQuery<ChangeRow>;
  /** Events that it reads at most: where it finds as many there may be more, after the position that it gives. */
  readonly atOnce: number;
}

export interface ChangeSource {
  /** A number that is another when anything has been committed; undefined where only a query can say it. */
  state(): number | undefined;
  readonly read: CheckedSession;
  /** The version of each collection, and the events with their representations. */
  readonly events: Paged;
  /** The same with `ids` for `event`. */
  readonly ids: Paged;
  /** The statement that gives a row where nothing has been committed since; not needed where `state` says it. */
  readonly unchanged?: (since: string) => CompiledQuery<unknown>;
  /** Lets `read` see what other sessions see; not needed where each of its statements sees all that has been committed. */
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
  /** Whether nothing was committed between the last two checks: then the next one asks first whether anything was. */
  let isQuiet = false;
  /** The state that the last check saw. */
  let seen: number | undefined;
  /** A check that has not begun yet: it serves every request that comes now. */
  let next: Promise<void> | undefined;
  /** The last check, or what else comes between checks. */
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time. */
  function queue<T>(work: () => Promise<T>): Promise<T> {
    const done = last.catch(() => undefined).then(work);
    last = done;
    return done;
  }

  /** Shared by all who come before it begins. */
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
    const first = await readChangeRows(session, source.events, position, mostEvents);
    const rows =
      countEvents(first) < mostEvents ? first : await readChangeRows(session, source.ids, position);
    const found: { readonly entry: Followed; readonly version: number; readonly changes: Found }[] = [];
    for (const entry of followed.values()) {
      const version = getVersion(rows, entry.collection.name);
      const growth = version - (entry.version ?? Number.NaN);
      found.push({ entry, version, changes: await extractChanges(rows, entry.collection, growth) });
    }
    // All at once: between two of them no request may be served what one collection shows of another's past.
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
        // What the last check has read of it was thrown away.
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
 * Reads all that has changed, some at a time. Each statement sees another state: the versions and the position are those
 * of the last one, and the sums of all marks show whether nothing is missing.
 * @param most events after which it ends, though there may be more
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
    if (count < atOnce || events >= most || page === mostPages)
      return page === 1 ? rows : [...found, ...rows];
    for (const row of rows) if (row.kind === 'event' || row.kind === 'ids') found.push(row);
    position = rows.find(({ kind }) => kind === 'position')?.name;
    const due = takeTurn();
    if (due !== undefined) await due;
  }
}

function countEvents(rows: readonly ChangeRow[]): number {
  return rows.reduce((sum, { kind, event }) => sum + (kind === 'event' ? 1 : kind === 'ids' ? event : 0), 0);
}

/** The ids of what has changed where changes are many; undefined when anything may have changed. */
type Found = readonly Change[] | Set<number> | undefined;

/**
 * Characters of what has changed that are read in one piece. Every request waits for a check: few changes are read at once,
 * whatever else there is to do.
 */
const readAtOnce = 100_000;

/** @param growth of the version */
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
      // A product has thousands of values at most.
      const next = takeTurnFor(after);
      if (next !== undefined) await next;
      changes.push({ id, before: old, after: getValues(id, after), document: after });
    }
    return changes;
  } catch {
    // An event that the disk has damaged says nothing; reading it is refused where it is read.
    return undefined;
  }
}
