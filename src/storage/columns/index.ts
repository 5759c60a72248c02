/**
 * Columns of products in memory, for what no index answers fast: how many rows have each value under any filter, and
 * which rows meet several filters. A column is read from the database when it is first needed, in slices, and from then
 * on follows storage/changes/, so that it is as new as the last check. All of them are bounded in bytes: what
 * has not been used for longest goes (docs/decisions/0031).
 */
import type { CompiledQuery } from 'kysely';
import { createSlices } from '../../slices.ts';
import type { Change, Collection } from '../changes/change.ts';
import { createLoads } from '../changes/loads.ts';
import type { Database, Session } from '../database.ts';
import { type Column, createColumn as emptyColumn, mostCombinations } from './column.ts';
import { buildRowsAfter, type ColumnRows, type ColumnSource } from './source.ts';

/** Bytes of columns at most. */
const columnsSize = 160 * 1024 * 1024;
/** Rows that one statement reads: in the background, where no request waits for it. */
const rowsAtOnce = 4000;
/** Rows that change while columns are held, at most: with more the columns go. */
const mostWaiting = 2000;

interface Loaded {
  readonly source: ColumnSource;
  readonly column: Column;
}

/** Reads a part of a column. */
type Reader = (query: CompiledQuery<ColumnRows>) => Promise<ColumnRows[]>;

/** While columns are in use, what changes waits. */
interface Held {
  /** How many do. */
  by: number;
  readonly changes: Change[];
  released: PromiseWithResolvers<void>;
}

/** A column with more different values than are kept in memory. */
export class TooManyValues extends Error {
  constructor(readonly column: string) {
    super(`${column} has more than ${mostCombinations} values`);
    this.name = 'TooManyValues';
  }
}

export interface Columns {
  /**
   * Works with the columns, in the order of the sources, as new as a check that is made now. They stay as they are until
   * it is done, also while it gives the event loop a turn.
   * @throws TooManyValues
   */
  use<T>(sources: readonly ColumnSource[], work: (columns: readonly Column[]) => T | Promise<T>): Promise<T>;
  /**
   * The columns that are in memory, as they are until the next turn of the event loop; undefined when one is not, which
   * is read then, or is not as new as the last check. Throws nothing.
   */
  peek(sources: readonly ColumnSource[]): readonly Column[] | undefined;
  /** Fulfilled when those of the columns that are being read, or held, are there; undefined when there is none. */
  settled(sources: readonly ColumnSource[]): Promise<unknown> | undefined;
}

export function createColumns(
  database: Pick<Database, 'build' | 'changes' | 'dialect' | 'snapshot'>,
  collection: Collection,
): Columns {
  const { changes } = database;
  /** The one used last is last. */
  const loaded = new Map<string, Loaded>();
  const loading = new Map<string, Promise<void>>();
  const refused = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  const held: Held = { by: 0, changes: [], released: Promise.withResolvers() };

  const loads = createLoads(changes, collection, {
    clear() {
      loaded.clear();
      refused.clear();
      held.changes.length = 0;
    },
    apply(committed) {
      if (held.by > 0) held.changes.push(...committed);
      else applyAll(committed);
    },
  });
  function applyAll(changes: readonly Change[]): void {
    for (const { source, column } of loaded.values()) apply(source, column, changes);
  }
  function apply(source: ColumnSource, column: Column, committed: readonly Change[]): void {
    for (const { id, after } of committed) column.set(id, source.fromEvent(after));
    // Values that no row has any more are not forgotten but with the column.
    if (column.members.length > mostCombinations) loaded.delete(source.name);
  }

  const readInBackground: Reader = query =>
    database.snapshot(session => session.all(query), { background: true });

  const load = (source: ColumnSource): Promise<void> =>
    loads.load(
      source.name,
      async isGivenUp => {
        const column = await readColumn(readInBackground, source, isGivenUp);
        await column.arrange();
        return column;
      },
      (column, replayed) => {
        loaded.set(source.name, { source, column });
        apply(source, column, replayed);
        makeRoom();
      },
    );

  async function readColumn(read: Reader, source: ColumnSource, isGivenUp = () => false): Promise<Column> {
    const column = emptyColumn(source.isOrder);
    const { turn } = createSlices();
    for (const one of source.reads) {
      for (let last: ColumnRows | undefined; !isGivenUp(); ) {
        const groups = await read(buildRowsAfter(database, one, last, rowsAtOnce));
        let size = 0;
        for (const group of groups) {
          column.add(group.ids.split(',').map(Number), source.valuesIn(group));
          size += group.size;
        }
        if (column.members.length > mostCombinations) {
          refused.add(source.name);
          throw new TooManyValues(source.name);
        }
        last = groups.at(-1);
        if (size < rowsAtOnce) break;
        await turn();
      }
    }
    return column;
  }

  function makeRoom(): void {
    const sumBytes = () => [...loaded.values()].reduce((sum, { column }) => sum + column.bytes(), 0);
    while (loaded.size > 1 && sumBytes() > columnsSize) {
      const [oldest] = loaded.keys();
      if (oldest !== undefined) loaded.delete(oldest);
    }
  }

  /** One column is read after the other. */
  function loadOnce(source: ColumnSource): Promise<void> {
    const known = loading.get(source.name);
    if (known !== undefined) return known;
    const done = last.then(() => load(source)).finally(() => loading.delete(source.name));
    last = done.catch(() => undefined);
    loading.set(source.name, done);
    return done;
  }

  async function hold<T>(work: () => T | Promise<T>): Promise<T> {
    held.by += 1;
    try {
      return await work();
    } finally {
      held.by -= 1;
      if (held.by === 0) {
        const waiting = held.changes.splice(0);
        if (waiting.length > mostWaiting) loaded.clear();
        applyAll(waiting);
        held.released.resolve();
        held.released = Promise.withResolvers();
      }
    }
  }

  function findLoaded(sources: readonly ColumnSource[]): readonly Column[] | undefined {
    const found: Column[] = [];
    for (const { name } of sources) {
      const entry = loaded.get(name);
      if (entry === undefined) return undefined;
      loaded.delete(name);
      loaded.set(name, entry);
      found.push(entry.column);
    }
    return found;
  }

  const selectMissing = (sources: readonly ColumnSource[]) => sources.filter(({ name }) => !loaded.has(name));

  return {
    peek(sources) {
      if (held.changes.length > 0) return undefined;
      const found = findLoaded(sources);
      const isRefused = sources.some(({ name }) => refused.has(name));
      if (found === undefined && !isRefused && !loads.isResting())
        for (const source of selectMissing(sources)) loadOnce(source).catch(() => undefined);
      return found;
    },
    settled(sources) {
      const awaited: Promise<unknown>[] = sources.flatMap(({ name }) => loading.get(name) ?? []);
      if (held.changes.length > 0) awaited.push(held.released.promise);
      return awaited.length === 0 ? undefined : Promise.allSettled(awaited);
    },
    async use(sources, work) {
      for (;;) {
        await changes.check();
        for (const { name } of sources) if (refused.has(name)) throw new TooManyValues(name);
        if (!loads.isResting()) {
          await Promise.all(selectMissing(sources).map(loadOnce));
          await changes.check();
        }
        // Those who work with what was are not joined: they are waited for.
        if (held.changes.length === 0) break;
        await held.released.promise;
      }
      const found = findLoaded(sources);
      if (found !== undefined) return hold(() => work(found));
      // Where changes come faster than columns are read: as they are at one moment, for this time only.
      const own = await database.snapshot(session => readAll(session, sources), { background: true });
      return work(own);
    },
  };

  async function readAll(session: Session, sources: readonly ColumnSource[]): Promise<Column[]> {
    const found: Column[] = [];
    for (const source of sources) found.push(await readColumn(query => session.all(query), source));
    return found;
  }
}
