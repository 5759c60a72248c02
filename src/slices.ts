/**
 * Long work on the event loop, done in slices: all requests of a process share one thread, and would wait for the whole.
 */

/** Milliseconds of one slice. A piece of work that cannot be divided may make it longer. */
const sliceMs = 10;

export interface Slices {
  /** Says that the event loop has just had a turn. */
  begin(): void;
  /** Whether the slice is not over. */
  hasTime(): boolean;
  /** Called between two pieces of work: when the slice is over, resolves once the event loop has had a turn. */
  turn(): Promise<void> | undefined;
}

/** The slices of one piece of long work; the first begins now. */
export function createSlices(): Slices {
  let begun = performance.now();
  const begin = (): void => {
    begun = performance.now();
  };
  async function beginNext(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve));
    begin();
  }
  const hasTime = (): boolean => performance.now() - begun <= sliceMs;
  return { begin, hasTime, turn: () => (hasTime() ? undefined : beginNext()) };
}

/**
 * Slices of many pieces of work that go on at the same time, all of which get one slice together: those that are due wait for
 * the next turns in their order, as many in each as there is time for.
 */
export function createSharedSlices(): Slices {
  const waiting: (() => void)[] = [];
  const slices = createSlices();
  /** Callbacks of this turn that have yet to come. */
  let steps = 0;

  // A callback for each, since its work goes on when the promise is fulfilled.
  function step(): void {
    steps -= 1;
    if (slices.hasTime()) waiting.shift()?.();
    if (steps === 0 && waiting.length > 0) schedule();
  }
  function schedule(): void {
    steps = waiting.length;
    setImmediate(slices.begin);
    for (let count = 0; count < steps; count++) setImmediate(step);
  }
  return {
    ...slices,
    turn() {
      if (waiting.length === 0 && slices.hasTime()) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      if (steps === 0) schedule();
      return promise;
    },
  };
}

/** Maps items one by one, with turns of the event loop between them where that takes long. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const { turn } = createSlices();
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    const next = turn();
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
  const { turn } = createSlices();
  const sorted: string[] = [];
  async function add(some: readonly string[], place: number): Promise<void> {
    await turn();
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
      await turn();
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
  const { turn } = createSlices();
  let stretches: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += sortedItems) {
    await turn();
    stretches.push(items.slice(start, start + sortedItems).sort(compare));
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
      if (merged.length % mergedItems === 0) await turn();
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
  { turn }: Pick<Slices, 'turn'> = createSlices(),
): Promise<Promise<Result>[]> {
  const sent: Promise<Result>[] = [];
  for (const item of items) {
    const result = send(item);
    // It is reported to those who wait for all of them, be it while others are yet to be sent.
    result.catch(() => undefined);
    sent.push(result);
    const due = turn();
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
    // Who stops before the end has no use for it, nor for what it fails with.
    next.catch(() => undefined);
    yield rows;
  }
}
