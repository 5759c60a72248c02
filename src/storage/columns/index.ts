/**
 * Columns of products in memory, for queries that no index makes fast: how many rows have each value under any filter,
 * and which rows match several filters. A column is read from the database in slices when it is first needed, and then
 * follows storage/changes/, so that it is as new as the last check. Their total size is bounded: the least recently
 * used column is dropped first (docs/decisions/0031).
 */
import { type Change, type Collection, isSameValue } from '../changes/change.ts';
import { createDeferral } from '../changes/deferral.ts';
import { createLoads } from '../changes/loads.ts';
import type { Database, Session } from '../database.ts';
import type { Column } from './column.ts';
import { createRoom, type Loaded, usualLimits } from './room.ts';
import { type ColumnReader, type ColumnSource, readColumn, TooManyValues } from './source.ts';

/** Maximum number of values that are applied to columns in one turn: some milliseconds of work. */
const maxTaken = 20_000;
/** Maximum number of changes that are deferred while columns are in use; with more, the columns are dropped. */
const maxWaiting = 2000;

/** Columns by the names of their sources. */
export type NamedColumns = ReadonlyMap<string, Column>;

/**
 * @param version the version of the collection that the columns show
 * @param session the snapshot whose state they show; undefined if the work runs outside of one
 */
type Work<T> = (columns: NamedColumns, version: number, session?: Session) => T | Promise<T>;

/** Whether a change alters the values of its row in the column. */
const isTaken = ({ name }: ColumnSource, { before, after }: Change): boolean =>
  before === undefined || after === undefined || !isSameValue(before[name], after[name]);

function countTaken(source: ColumnSource, changes: readonly Change[]): number {
  let count = 0;
  for (const change of changes) {
    if (!isTaken(source, change)) continue;
    const value = change.after?.[source.name];
    count += Array.isArray(value) ? value.length : 1;
  }
  return count;
}

/**
 * A change during the read of a column. Even if it left the value of the row, the read may have missed the row: it may
 * have moved along the index whose order the read follows.
 */
const toCreation = (change: Change): Change => ({ ...change, before: undefined });

export interface Columns {
  /**
   * Runs work with the columns as of a check that is made now, without those that have too many values, alone or together
   * with the columns before them. They stay the same until the work ends, even over turns of the event loop. The work must
   * wait neither for a check nor for a snapshot of its own: those before it may wait for this work to end.
   */
  use<T>(sources: readonly ColumnSource[], work: Work<T>): Promise<T>;
  /** As `use`, with the columns in the state of a snapshot that has read nothing yet. */
  useIn<T>(session: Session, sources: readonly ColumnSource[], work: Work<T>): Promise<T>;
  /**
   * The columns in memory, valid until the next turn of the event loop. Undefined if one is missing, which then begins
   * to be read, or is older than the last check. Never throws.
   */
  peek(sources: readonly ColumnSource[]): NamedColumns | undefined;
  /** The columns that can be in memory together, as far as is known: those that were too large are known. */
  selectUsable(sources: readonly ColumnSource[]): readonly ColumnSource[];
  /** Fulfilled when columns that are being read, or have deferred changes, are up to date; undefined if none are. */
  settled(sources: readonly ColumnSource[]): Promise<unknown> | undefined;
}

export function createColumns(
  database: Pick<Database, 'build' | 'changes' | 'dialect' | 'snapshot'>,
  collection: Collection,
  limits = usualLimits,
): Columns {
  const { changes } = database;
  /** The most recently used column is last. */
  const loaded = new Map<string, Loaded>();
  const loading = new Map<string, Promise<void>>();
  const room = createRoom(loaded, limits);
  let last: Promise<unknown> = Promise.resolve();
  const deferral = createDeferral(applyAll);

  const loads = createLoads(changes, collection, {
    clear() {
      loaded.clear();
      room.clear();
      deferral.clear();
    },
    apply: deferral.submit,
  });
  /** Applies changes to the most recently used columns first; those that exceed `maxTaken` are dropped. */
  function applyAll(changes: readonly Change[]): void {
    if (changes.length > maxWaiting) loaded.clear();
    let left = maxTaken;
    for (const { source, column } of [...loaded.values()].reverse()) {
      left -= countTaken(source, changes);
      if (left < 0) loaded.delete(source.name);
      else apply(source, column, changes);
    }
  }
  function apply(source: ColumnSource, column: Column, committed: readonly Change[]): void {
    for (const change of committed)
      if (isTaken(source, change)) column.set(change.id, source.fromEvent(change.after));
    // Values that no row has any more stay until the column is dropped.
    if (column.members.length > limits.maxCombinations) loaded.delete(source.name);
  }

  const readInBackground: ColumnReader = query =>
    database.snapshot(session => session.all(query), { background: 'part' });

  const load = (source: ColumnSource): Promise<void> =>
    loads.load(
      source.name,
      async isGivenUp => {
        const column = await readOrRefuse(readInBackground, source, isGivenUp);
        await column?.arrange();
        return column;
      },
      (column, changed) => {
        const replayed = changed.map(toCreation);
        if (column === undefined || countTaken(source, replayed) > maxTaken) return;
        room.keep({ source, column });
        apply(source, column, replayed);
        room.make();
      },
    );

  /** @returns undefined for a column with too many values */
  async function readOrRefuse(
    read: ColumnReader,
    source: ColumnSource,
    isGivenUp?: () => boolean,
  ): Promise<Column | undefined> {
    try {
      return await readColumn(database, read, source, limits.maxCombinations, isGivenUp);
    } catch (error) {
      if (!(error instanceof TooManyValues)) throw error;
      room.refuse(source);
      return undefined;
    }
  }

  /** Reads columns one after another. */
  const loadOnce = (source: ColumnSource): Promise<void> =>
    loading.getOrInsertComputed(source.name, () => {
      const done = last.then(() => load(source)).finally(() => loading.delete(source.name));
      last = done.catch(() => undefined);
      return done;
    });

  function findLoaded(sources: readonly ColumnSource[]): NamedColumns | undefined {
    const found = new Map<string, Column>();
    for (const { name } of sources) {
      const entry = loaded.get(name);
      if (entry === undefined) return undefined;
      found.set(name, entry.column);
    }
    room.touch(sources);
    return found;
  }

  function loadMissing(sources: readonly ColumnSource[]): Promise<void>[] {
    const usable = room.selectUsable(sources);
    room.touch(usable);
    return usable.filter(({ name }) => !loaded.has(name)).map(loadOnce);
  }
  const getVersion = () => changes.version(collection) ?? Number.NaN;

  async function useIn<T>(session: Session, sources: readonly ColumnSource[], work: Work<T>): Promise<T> {
    // The columns are frozen before the next check, so that they show the state of the session.
    const { version, working } = await changes.checkIn(session, async () => {
      await deferral.whenApplied();
      const version = getVersion();
      const found = findLoaded(room.selectUsable(sources));
      return { version, working: found && deferral.runFrozen(() => work(found, version, session)) };
    });
    return working ?? work(await readAll(session, sources), version, session);
  }

  return {
    peek(sources) {
      if (deferral.hasPending()) return undefined;
      if (room.selectUsable(sources).length < sources.length) return undefined;
      const found = findLoaded(sources);
      if (found === undefined && !loads.isResting())
        for (const loading of loadMissing(sources)) loading.catch(() => undefined);
      return found;
    },
    settled(sources) {
      const awaited: Promise<unknown>[] = sources.flatMap(({ name }) => loading.get(name) ?? []);
      const applied = deferral.whenApplied();
      if (applied !== undefined) awaited.push(applied);
      return awaited.length === 0 ? undefined : Promise.allSettled(awaited);
    },
    async use(sources, work) {
      for (;;) {
        await changes.check();
        if (!loads.isResting()) {
          await Promise.all(loadMissing(sources));
          await changes.check();
        }
        // Waits for work that began before these changes, and needs the columns as they were.
        const applied = deferral.whenApplied();
        if (applied === undefined) break;
        await applied;
      }
      const found = findLoaded(room.selectUsable(sources));
      if (found !== undefined) return deferral.runFrozen(() => work(found, getVersion()));
      // Changes come faster than columns can be read: reads them in a snapshot, for this work only.
      return database.snapshot(session => useIn(session, sources, work), { background: true });
    },
    useIn,
    selectUsable: room.selectUsable,
  };

  async function readAll(session: Session, sources: readonly ColumnSource[]): Promise<NamedColumns> {
    const found = new Map<string, Column>();
    let sum = 0;
    for (const source of room.selectUsable(sources)) {
      const column = await readOrRefuse(query => session.all(query), source);
      const bytes = column?.bytes() ?? 0;
      // Twice the limit, since columns that have just been read have room for as much again.
      if (column === undefined || (sum > 0 && sum + bytes > 2 * limits.maxBytes)) continue;
      sum += bytes;
      found.set(source.name, column);
    }
    return found;
  }
}
