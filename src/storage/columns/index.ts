/**
 * Columns of products in memory, for what no index answers fast: how many rows have each value under any filter, and
 * which rows meet several filters. A column is read from the database when it is first needed, in slices, and from then
 * on follows what storage/changes/ tells, so that it is as new as the last look. All of them are bounded in bytes: what
 * has not been used for longest goes (docs/decisions/0031).
 */
import { pacedReads, slices } from '../../slices.ts';
import type { Change, Collection } from '../changes/change.ts';
import type { Database, Session } from '../database.ts';
import { type Column, column as emptyColumn, mostCombinations } from './column.ts';
import { type ColumnRow, type ColumnSource, rowsAfter } from './source.ts';

/** Bytes of columns at most. */
const columnsSize = 160 * 1024 * 1024;
/** Rows that change while a column is read, at most: with more it is given up. */
const mostReplayed = 100_000;
/** Milliseconds for which nothing is kept after everything may have changed: as in an import, again and again. */
const restMs = 1000;

interface Loaded {
  readonly source: ColumnSource;
  readonly column: Column;
}

interface Loading {
  readonly replayed: Change[];
  isGivenUp: boolean;
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
   * The columns, in the order of the sources, as new as a look that is made now. They may change with the next turn of
   * the event loop.
   * @throws TooManyValues
   */
  get(sources: readonly ColumnSource[]): Promise<readonly Column[]>;
  /** The same for columns that are in memory; undefined when one is not, which is read then. Throws nothing. */
  peek(sources: readonly ColumnSource[]): readonly Column[] | undefined;
  /** Fulfilled when those of the columns have been read that are being read now; undefined when none is. */
  settled(sources: readonly ColumnSource[]): Promise<unknown> | undefined;
}

export function columnsOf(
  database: Pick<Database, 'build' | 'changes' | 'read' | 'snapshot'>,
  collection: Collection,
): Columns {
  const { build, changes } = database;
  /** The one used last is last. */
  const loaded = new Map<string, Loaded>();
  const loading = new Map<string, Promise<void>>();
  const inProgress = new Map<string, Loading>();
  const refused = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  let restsUntil = 0;

  changes.follow(collection, committed => {
    if (committed === undefined) {
      if (loaded.size > 0 || inProgress.size > 0) restsUntil = performance.now() + restMs;
      loaded.clear();
      refused.clear();
      for (const one of inProgress.values()) one.isGivenUp = true;
      return;
    }
    for (const { source, column } of loaded.values()) apply(source, column, committed);
    for (const one of inProgress.values()) {
      one.replayed.push(...committed);
      if (one.replayed.length > mostReplayed) one.isGivenUp = true;
    }
  });
  function apply(source: ColumnSource, column: Column, committed: readonly Change[]): void {
    for (const { id, after } of committed) column.set(id, source.fromEvent(after));
    // Values that no row has any more are not forgotten but with the column.
    if (column.members.length > mostCombinations) loaded.delete(source.name);
  }

  /** Whatever changes while the rows are read is recorded, and put in the place of what was read. */
  async function load(source: ColumnSource): Promise<void> {
    const progress: Loading = { replayed: [], isGivenUp: false };
    await changes.look();
    inProgress.set(source.name, progress);
    try {
      const column = await readColumn(database.read, source, () => progress.isGivenUp);
      await changes.look();
      if (progress.isGivenUp) return;
      loaded.set(source.name, { source, column });
      apply(source, column, progress.replayed);
      makeRoom();
    } finally {
      inProgress.delete(source.name);
    }
  }

  async function readColumn(
    session: Session,
    source: ColumnSource,
    isGivenUp = () => false,
  ): Promise<Column> {
    const column = emptyColumn();
    const { turn } = slices();
    for (const read of source.reads) {
      const next = pacedReads<ColumnRow>((limit, last) => session.all(rowsAfter(build, read, last, limit)));
      let part = await next(undefined);
      while (!isGivenUp()) {
        for (const row of part.rows) column.add(row.id, source.valuesIn(row));
        if (column.members.length > mostCombinations) {
          refused.add(source.name);
          throw new TooManyValues(source.name);
        }
        if (!part.isFull) break;
        await turn();
        part = await next(part.rows.at(-1));
      }
    }
    return column;
  }

  function makeRoom(): void {
    const bytes = () => [...loaded.values()].reduce((sum, { column }) => sum + column.bytes(), 0);
    while (loaded.size > 1 && bytes() > columnsSize) {
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

  function held(sources: readonly ColumnSource[]): readonly Column[] | undefined {
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

  const missing = (sources: readonly ColumnSource[]) => sources.filter(({ name }) => !loaded.has(name));

  return {
    peek(sources) {
      const found = held(sources);
      const isRefused = sources.some(({ name }) => refused.has(name));
      if (found === undefined && !isRefused && performance.now() >= restsUntil)
        for (const source of missing(sources)) loadOnce(source).catch(() => undefined);
      return found;
    },
    settled(sources) {
      const reading = sources.flatMap(({ name }) => loading.get(name) ?? []);
      return reading.length === 0 ? undefined : Promise.allSettled(reading);
    },
    async get(sources) {
      await changes.look();
      for (const { name } of sources) if (refused.has(name)) throw new TooManyValues(name);
      if (performance.now() >= restsUntil) {
        await Promise.all(missing(sources).map(loadOnce));
        await changes.look();
      }
      // Where changes come faster than columns are read: as they are at one moment, for this time only.
      return held(sources) ?? database.snapshot(session => readAll(session, sources));
    },
  };

  async function readAll(session: Session, sources: readonly ColumnSource[]): Promise<Column[]> {
    const found: Column[] = [];
    for (const source of sources) found.push(await readColumn(session, source));
    return found;
  }
}
