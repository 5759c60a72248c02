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
import { type Column, maxCombinations } from './column.ts';
import { type ColumnReader, type ColumnSource, readColumn, TooManyValues } from './source.ts';

/** Maximum size of all columns, in bytes. */
const columnsSize = 160 * 1024 * 1024;
/**
 * Maximum number of columns, however small: each change of a row is compared with all of them, and clients may filter by
 * any key.
 */
const maxColumns = 500;
/** Maximum number of values that are applied to columns in one turn: some milliseconds of work. */
const maxTaken = 20_000;
/** Maximum number of changes that are deferred while columns are in use; with more, the columns are dropped. */
const maxWaiting = 2000;

interface Loaded {
  readonly source: ColumnSource;
  readonly column: Column;
}

/** Columns by the names of their sources. */
export type NamedColumns = ReadonlyMap<string, Column>;

/** @param version the version of the collection that the columns show */
type Work<T> = (columns: NamedColumns, version: number) => T | Promise<T>;

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

export interface Columns {
  /**
   * Runs work with the columns as of a check that is made now. The columns stay the same until the work ends, even over
   * turns of the event loop. The work must not wait for a check.
   * @throws TooManyValues
   */
  use<T>(sources: readonly ColumnSource[], work: Work<T>): Promise<T>;
  /**
   * As `use`, with the columns in the state of a snapshot that has read nothing yet.
   * @throws TooManyValues
   */
  useIn<T>(session: Session, sources: readonly ColumnSource[], work: Work<T>): Promise<T>;
  /**
   * The columns in memory, valid until the next turn of the event loop. Undefined if one is missing, which then begins
   * to be read, or is older than the last check. Never throws.
   */
  peek(sources: readonly ColumnSource[]): NamedColumns | undefined;
  /** Fulfilled when columns that are being read, or have deferred changes, are up to date; undefined if none are. */
  settled(sources: readonly ColumnSource[]): Promise<unknown> | undefined;
}

export function createColumns(
  database: Pick<Database, 'build' | 'changes' | 'dialect' | 'snapshot'>,
  collection: Collection,
): Columns {
  const { changes } = database;
  /** The most recently used column is last. */
  const loaded = new Map<string, Loaded>();
  const loading = new Map<string, Promise<void>>();
  const refused = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  const deferral = createDeferral(applyAll);

  const loads = createLoads(changes, collection, {
    clear() {
      loaded.clear();
      refused.clear();
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
    if (column.members.length > maxCombinations) loaded.delete(source.name);
  }

  const readInBackground: ColumnReader = query =>
    database.snapshot(session => session.all(query), { background: 'part' });

  const load = (source: ColumnSource): Promise<void> =>
    loads.load(
      source.name,
      async isGivenUp => {
        const column = await readOrRefuse(readInBackground, source, isGivenUp);
        await column.arrange();
        return column;
      },
      (column, replayed) => {
        if (countTaken(source, replayed) > maxTaken) return;
        loaded.set(source.name, { source, column });
        apply(source, column, replayed);
        makeRoom();
      },
    );

  async function readOrRefuse(
    read: ColumnReader,
    source: ColumnSource,
    isGivenUp?: () => boolean,
  ): Promise<Column> {
    try {
      return await readColumn(database, read, source, isGivenUp);
    } catch (error) {
      if (error instanceof TooManyValues) refused.add(source.name);
      throw error;
    }
  }

  function makeRoom(): void {
    const sumBytes = () => [...loaded.values()].reduce((sum, { column }) => sum + column.bytes(), 0);
    while (loaded.size > maxColumns || (loaded.size > 1 && sumBytes() > columnsSize)) {
      const [oldest] = loaded.keys();
      if (oldest !== undefined) loaded.delete(oldest);
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
      loaded.delete(name);
      loaded.set(name, entry);
      found.set(name, entry.column);
    }
    return found;
  }

  const selectMissing = (sources: readonly ColumnSource[]) => sources.filter(({ name }) => !loaded.has(name));

  function refuse(sources: readonly ColumnSource[]): void {
    for (const { name } of sources) if (refused.has(name)) throw new TooManyValues(name);
  }
  const getVersion = () => changes.version(collection) ?? Number.NaN;

  async function useIn<T>(session: Session, sources: readonly ColumnSource[], work: Work<T>): Promise<T> {
    // The columns are frozen before the next check, so that they show the state of the session.
    const { version, working } = await changes.checkIn(session, async () => {
      await deferral.whenApplied();
      refuse(sources);
      const version = getVersion();
      const found = findLoaded(sources);
      return { version, working: found && deferral.runFrozen(() => work(found, version)) };
    });
    return working ?? work(await readAll(session, sources), version);
  }

  return {
    peek(sources) {
      if (deferral.hasPending()) return undefined;
      const found = findLoaded(sources);
      const isRefused = sources.some(({ name }) => refused.has(name));
      if (found === undefined && !isRefused && !loads.isResting())
        for (const source of selectMissing(sources)) loadOnce(source).catch(() => undefined);
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
        refuse(sources);
        if (!loads.isResting()) {
          await Promise.all(selectMissing(sources).map(loadOnce));
          await changes.check();
        }
        // Waits for work that began before these changes, and needs the columns as they were.
        const applied = deferral.whenApplied();
        if (applied === undefined) break;
        await applied;
      }
      const found = findLoaded(sources);
      if (found !== undefined) return deferral.runFrozen(() => work(found, getVersion()));
      // Changes come faster than columns can be read: reads them in a snapshot, for this work only.
      return database.snapshot(session => useIn(session, sources, work), { background: true });
    },
    useIn,
  };

  async function readAll(session: Session, sources: readonly ColumnSource[]): Promise<NamedColumns> {
    const found = new Map<string, Column>();
    for (const source of sources)
      found.set(source.name, await readOrRefuse(query => session.all(query), source));
    return found;
  }
}
