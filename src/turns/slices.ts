/**
 * Long work on the event loop, done in slices: the requests of a process share one thread and would wait for all of it.
 */
import { takeTurn } from './index.ts';

/** Splits a list into parts of `size` items; the last part has the rest. */
export function* splitIntoParts<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Maps items one by one, yielding to the event loop if that takes long. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    const due = takeTurn();
    if (due !== undefined) await due;
  }
  return results;
}

/** Does all steps of a generator, yielding to the event loop between them if that takes long. @returns its result */
export async function finishInSlices<Result>(steps: Iterator<undefined, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    const due = takeTurn();
    if (due !== undefined) await due;
  }
}

/** Items sorted in one piece, and items merged between checks of the time. */
const [sortedItems, mergedItems] = [2000, 500];

interface PartSort<Item> {
  /** Items sorted in one piece: some milliseconds of work. */
  readonly atOnce: number;
  sortPart(part: Item[]): readonly Item[];
}

/** Sorts distinct texts in the order of `sort`, which would hold up the event loop for seconds. */
export const sortInSlices = (texts: readonly string[]): Promise<readonly string[]> =>
  sortItemsInSlices(
    texts,
    (one, other) => (one < other ? -1 : 1),
    // Without a comparison, which takes several times as long.
    { atOnce: 20_000, sortPart: part => part.sort() },
  );

/** Sorts items as `sort` does: a merge sort of runs that are sorted in one piece. */
export async function sortItemsInSlices<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
  { atOnce, sortPart }: PartSort<Item> = { atOnce: sortedItems, sortPart: part => part.sort(compare) },
): Promise<readonly Item[]> {
  let stretches: (readonly Item[])[] = [];
  for (const part of splitIntoParts(items, atOnce)) {
    await takeTurn();
    stretches.push(sortPart(part));
  }
  while (stretches.length > 1) {
    const merged: (readonly Item[])[] = [];
    for (let index = 0; index < stretches.length; index += 2)
      merged.push(await merge(stretches[index] ?? [], stretches[index + 1] ?? []));
    stretches = merged;
  }
  return stretches[0] ?? [];

  /** Stable: of two equal items the one of the first list comes first. */
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
 * Sends items one after another, without waiting for the results.
 * @returns the promise of each result
 */
export async function sendInSlices<Item, Result>(
  items: Iterable<Item>,
  send: (item: Item) => Promise<Result>,
): Promise<Promise<Result>[]> {
  const sent: Promise<Result>[] = [];
  for (const item of items) {
    const result = send(item);
    // A rejection reaches the caller, who awaits all results; it may occur while others are yet to be sent.
    result.catch(() => undefined);
    sent.push(result);
    await takeTurn();
  }
  return sent;
}

/** Rows per statement, from slow disks to pages in memory. */
const paces = [125, 250, 500, 1000, 2000] as const;
const longRead = 8;
const shortRead = 3;

/**
 * Reads very many rows in batches, until there are no more: smaller ones after a statement that held up the event loop,
 * as on a slow disk, and larger ones after a short one.
 * @param read reads up to `limit` rows; the time before it returns its promise holds up the event loop
 */
export async function* readPaced<Row>(
  read: (limit: number, last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let pace = 2;
  for (let last: Row | undefined; ; ) {
    const limit = paces[pace] ?? paces[0];
    const begun = performance.now();
    const reading = read(limit, last);
    const held = performance.now() - begun;
    const rows = await reading;
    yield rows;
    if (rows.length < limit) return;
    if (held > longRead) pace = Math.max(0, pace - 1);
    else if (held < shortRead) pace = Math.min(paces.length - 1, pace + 1);
    last = rows.at(-1);
    await takeTurn();
  }
}

/**
 * Reads very many rows in batches, until there are no more.
 * @param read the rows after `last`, or the first ones if that is undefined
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
 * Like readPages, but reads the next batch while one is processed. When many requests share the event loop, each
 * promise waits for a turn, and thus for all of them.
 */
export async function* readPagesAhead<Row>(
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let next = read(undefined); ; ) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    next = read(last);
    // A reader that stops early uses neither this batch nor its failure.
    next.catch(() => undefined);
    yield rows;
  }
}
