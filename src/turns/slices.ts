/**
 * Long work on the event loop, done in slices: all requests of a process share one thread, and would wait for the whole.
 */
import { takeTurn } from './index.ts';

/** Parts of a list with so many items each; the last has what is left. */
export function* splitIntoParts<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Maps items one by one, with turns of the event loop between them where that takes long. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    const next = takeTurn();
    if (next !== undefined) await next;
  }
  return results;
}

/** @returns what makes something when it is first called, and gives the same from then on; a failure stays, too */
export function runOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Texts that are sorted in one piece. */
const sortedAtOnce = 2000;

/** The texts, all different, as `sort` puts them, which takes seconds for so many: first by the first code unit, and so on. */
export async function sortInSlices(texts: readonly string[]): Promise<string[]> {
  const sorted: string[] = [];
  async function add(some: readonly string[], place: number): Promise<void> {
    await takeTurn();
    if (some.length <= sortedAtOnce) {
      sorted.push(...some.toSorted());
      return;
    }
    const alike = new Map<string, string[]>();
    for (const text of some) {
      const unit = text.charAt(place);
      const others = alike.get(unit);
      if (others === undefined) alike.set(unit, [text]);
      else others.push(text);
      await takeTurn();
    }
    for (const unit of [...alike.keys()].sort()) await add(alike.get(unit) ?? [], place + 1);
  }
  await add(texts, 0);
  return sorted;
}

/** Items that are sorted in one piece, and that are merged before the time is looked at. */
const [sortedItems, mergedItems] = [2000, 500];

/** Any items as `sort` puts them: stretches of them, which are then merged two by two. */
export async function sortItemsInSlices<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Promise<readonly Item[]> {
  let stretches: (readonly Item[])[] = [];
  for (const part of splitIntoParts(items, sortedItems)) {
    await takeTurn();
    stretches.push(part.sort(compare));
  }
  while (stretches.length > 1) {
    const merged: (readonly Item[])[] = [];
    for (let index = 0; index < stretches.length; index += 2)
      merged.push(await merge(stretches[index] ?? [], stretches[index + 1] ?? []));
    stretches = merged;
  }
  return stretches[0] ?? [];

  /** Of two that are equal the first comes first. */
  async function merge(ones: readonly Item[], others: readonly Item[]): Promise<readonly Item[]> {
    const merged: Item[] = [];
    for (let [one, other] = [0, 0]; ; ) {
      const first = ones[one];
      const second = others[other];
      if (first === undefined) return merged.concat(others.slice(other));
      if (second === undefined) return merged.concat(ones.slice(one));
      if (compare(first, second) > 0) {
        merged.push(second);
        other += 1;
      } else {
        merged.push(first);
        one += 1;
      }
      if (merged.length % mergedItems === 0) await takeTurn();
    }
  }
}

/**
 * Sends one after another, without waiting for what comes of it.
 * @returns what comes of each, to be waited for
 */
export async function sendInSlices<Item, Result>(
  items: Iterable<Item>,
  send: (item: Item) => Promise<Result>,
): Promise<Promise<Result>[]> {
  const sent: Promise<Result>[] = [];
  for (const item of items) {
    const result = send(item);
    // It is reported to those who wait for all of them, be it while others are yet to be sent.
    result.catch(() => undefined);
    sent.push(result);
    const due = takeTurn();
    if (due !== undefined) await due;
  }
  return sent;
}

/** Rows per statement, from those of a slow disk to those of pages that are in memory. */
const paces = [125, 250, 500, 1000, 2000] as const;
const longRead = 8;
const shortRead = 3;

export interface Paced<Row> {
  readonly rows: readonly Row[];
  /** Whether there may be more. */
  readonly isFull: boolean;
}

/**
 * Reads very many rows, some at a time: fewer after a statement that has held up the event loop, as each does on a slow
 * disk, and more after a short one.
 * @param read requests so many rows; where it does so before it gives its promise, it holds up all others meanwhile
 */
export function createPacedReader<Row>(
  read: (limit: number, last: Row | undefined) => Promise<readonly Row[]>,
) {
  let pace = 2;
  return async (last: Row | undefined): Promise<Paced<Row>> => {
    const limit = paces[pace] ?? paces[0];
    const begun = performance.now();
    const reading = read(limit, last);
    const held = performance.now() - begun;
    const rows = await reading;
    if (held > longRead) pace = Math.max(0, pace - 1);
    else if (held < shortRead) pace = Math.min(paces.length - 1, pace + 1);
    return { rows, isFull: rows.length === limit };
  };
}

/**
 * Reads very many rows, some at a time, until there are no more.
 * @param read those after the last one that was read: from the first on where that is undefined
 */
export async function* readPages<Row>(
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; ; ) {
    const rows = await read(last);
    last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
  }
}

/**
 * The same, and while some are worked on the next are read: where many requests share the event loop, each promise waits
 * for a turn of it, and that for all of them.
 */
export async function* readPagesAhead<Row>(
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let next = read(undefined); ; ) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    next = read(last);
    // A reader that stops before the end has no use for it, nor for its failure.
    next.catch(() => undefined);
    yield rows;
  }
}
