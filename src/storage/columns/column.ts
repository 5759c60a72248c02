/**
 * One column of a table in memory: the values of each row as one small number, that of a combination of values. Rows
 * with the same values have the same number, so that a test is evaluated once per combination instead of once per row.
 */
import { growArray } from '../../arrays/growing.ts';
import { type AttributeTest, createValueTest, isWithinBound } from '../attributes/condition.ts';
import { type IndexedValue, kinds, toToken } from '../attributes/values.ts';
import { type Arrangement, arrangeRows, selectArrangedRows, sortCodes } from './arrangement.ts';
import { type Line, maxMoved } from './line.ts';
import { putRow, type RowSet, selectAccepted } from './rows.ts';

/** Maximum number of combinations of values: a column with more is large, and useless as a facet. */
export const maxCombinations = 300_000;
/** Maximum size of the sets of rows that are kept for recent tests, in bytes. */
const setsSize = 4 * 1024 * 1024;
/** Maximum number of tests whose sets are kept: each change of a row is tested by all of them. */
const maxSets = 64;
/** The overhead of a value, in addition to its text, and of a combination. */
const valueBytes = 250;
const combinationBytes = 120;

export interface Column {
  /** By row id: the number of its combination; 0 for none. A new array whenever it has grown. */
  codes(): Uint32Array;
  /** By combination: the number of its rows. */
  readonly uses: readonly number[];
  /** By combination: its values, as indexes into `values`. */
  readonly members: readonly (readonly number[])[];
  readonly values: readonly IndexedValue[];
  /** By combination: the index of its only value; -1 if it has several or none. */
  readonly singles: readonly number[];
  /** By index of the value: its number for comparisons; NaN for a value without an order. */
  readonly numbers: readonly number[];
  set(id: number, values: readonly IndexedValue[]): void;
  add(ids: readonly number[], values: readonly IndexedValue[]): void;
  /** Groups rows by combination, so that they are found faster; to be called after all rows have been read. */
  arrange(): Promise<void>;
  /** The rows in the order of their numbers, if the column is an order of lists and has been arranged. */
  line(): Line | undefined;
  /** The rows with a value that matches a test; valid until the next change of a row, and must not be modified. */
  rows(test: AttributeTest): RowSet;
  bytes(): number;
}

interface KeptSet {
  readonly rows: RowSet;
  /** Whether a value matches its test. */
  matches(value: IndexedValue): boolean;
  /** The combination that was tested last, and whether it matches: rows that change together often get the same. */
  code: number;
  isAccepted: boolean;
}

/** The combinations of values that rows have. Number 0 is that of no values. */
function createCombinations() {
  const uses: number[] = [0];
  const members: (readonly number[])[] = [[]];
  const singles: number[] = [-1];
  /** By index of the value: the combination of that value alone. */
  const alone: number[] = [];
  const several = new Map<string, number>();
  /** Numbers that no combination has any more; undefined once all rows have been read. */
  let unused: number[] | undefined = [];
  let bytes = 0;
  const computeBytes = (own: readonly number[]) => combinationBytes + 8 * own.length;

  function add(own: readonly number[]): number {
    const code = unused?.pop() ?? members.length;
    uses[code] = 0;
    singles[code] = own.length === 1 ? (own[0] ?? -1) : -1;
    members[code] = own;
    bytes += computeBytes(own);
    return code;
  }

  /** While rows are read value by value, each passes through a combination for each of its values. */
  function removeUnused(code: number): void {
    const own = members[code] ?? [];
    if (unused === undefined || own.length < 2 || uses[code] !== 0) return;
    several.delete(own.join());
    members[code] = [];
    bytes -= computeBytes(own);
    unused.push(code);
  }

  return {
    uses,
    members,
    singles,
    /** The number of a combination, which is added if there is none. @param own indexes of different values */
    ensure(own: readonly number[]): number {
      const [only] = own;
      if (only === undefined) return 0;
      if (own.length === 1) {
        alone[only] ??= add(own);
        return alone[only] ?? 0;
      }
      const sorted = [...own].sort((a, b) => a - b);
      return several.getOrInsertComputed(sorted.join(), () => add(sorted));
    },
    /** Counts a row that leaves one combination for another. */
    move(before: number, after: number): void {
      if (before !== 0) uses[before] = (uses[before] ?? 0) - 1;
      if (after !== 0) uses[after] = (uses[after] ?? 0) + 1;
      removeUnused(before);
    },
    /** To be called after all rows have been read: from then on, numbers keep their combinations. */
    endReading(): void {
      unused = undefined;
    },
    bytes: () => bytes,
  };
}

/** @param isOrder whether lists can be sorted by its numbers */
export function createColumn(isOrder = false): Column {
  let codes = new Uint32Array(1024);
  let largest = 0;
  const combinations = createCombinations();
  const { uses, members, singles } = combinations;
  const values: IndexedValue[] = [];
  const places = new Map<string, number>();
  const numbers: number[] = [];
  /** By index of the value: its kind, in an array of numbers that is fast to scan. */
  const valueKinds: number[] = [];
  let textBytes = 0;

  const sets = new Map<string, KeptSet>();
  let arrangement: Arrangement | undefined;
  /** Rows whose combination has changed since they were arranged. */
  let moved = new Set<number>();
  /** As `moved`, for an arrangement that is being made. */
  let movedSince: Set<number> | undefined;

  function ensurePlace(value: IndexedValue): number {
    const token = toToken(value);
    const known = places.get(token);
    if (known !== undefined) return known;
    const place = values.push(value) - 1;
    numbers.push(value.number ?? Number.NaN);
    valueKinds.push(value.kind);
    places.set(token, place);
    textBytes += valueBytes + 2 * token.length;
    return place;
  }

  function change(id: number, code: number): void {
    if (id > largest) largest = id;
    if (id >= codes.length) codes = growArray(codes, id + 1);
    const before = codes[id] ?? 0;
    if (before === code) return;
    combinations.move(before, code);
    codes[id] = code;
    if (arrangement !== undefined) {
      moved.add(id);
      if (moved.size > maxMoved) setImmediate(() => arrange().catch(() => undefined));
    }
    movedSince?.add(id);
    for (const set of sets.values()) putRow(set.rows, id, isAccepted(set, code));
  }

  function isAccepted(set: KeptSet, code: number): boolean {
    if (set.code === code) return set.isAccepted;
    set.code = code;
    set.isAccepted = (members[code] ?? []).some(place => {
      const value = values[place];
      return value !== undefined && set.matches(value);
    });
    return set.isAccepted;
  }

  /** Groups rows by combination; rows that change during this go into `movedSince`. */
  async function arrange(): Promise<void> {
    if (movedSince !== undefined) return;
    combinations.endReading();
    const since = new Set<number>();
    movedSince = since;
    codes = codes.slice(0, largest + 1);
    const getNumber = (code: number) => numbers[singles[code] ?? -1] ?? Number.NaN;
    const order = isOrder
      ? sortCodes(members.length, getNumber)
      : Uint32Array.from({ length: members.length - 1 }, (_, index) => index + 1);
    arrangement = await arrangeRows(codes.slice(), uses.slice(), order);
    moved = since;
    movedSince = undefined;
  }

  function selectRows(test: AttributeTest): RowSet {
    const accepted = testCombinations(test, { members, singles, values, numbers, valueKinds });
    if (arrangement === undefined) return selectAccepted(codes, accepted);
    const rows = selectArrangedRows(arrangement, accepted, codes.length);
    for (const id of moved) putRow(rows, id, accepted[codes[id] ?? 0] === 1);
    return rows;
  }

  function keepSet(name: string, test: AttributeTest): RowSet {
    const rows = selectRows(test);
    const room = Math.min(maxSets, setsSize / rows.words.byteLength);
    for (const oldest of sets.keys()) {
      if (sets.size < room) break;
      sets.delete(oldest);
    }
    sets.set(name, { rows, matches: createValueTest(test), code: 0, isAccepted: false });
    return rows;
  }

  return {
    codes: () => codes,
    uses,
    members,
    values,
    singles,
    numbers,
    set: (id, own) => change(id, combinations.ensure([...new Set(own.map(ensurePlace))])),
    add(ids, own) {
      const added = own.map(ensurePlace);
      const code = combinations.ensure([...new Set(added)]);
      for (const id of ids) {
        const before = codes[id] ?? 0;
        change(
          id,
          before === 0 ? code : combinations.ensure([...new Set([...(members[before] ?? []), ...added])]),
        );
      }
    },
    arrange,
    line: () =>
      arrangement === undefined || !isOrder
        ? undefined
        : {
            ids: arrangement.ids,
            moved,
            placeOf: id => numbers[singles[codes[id] ?? 0] ?? -1] ?? Number.NaN,
          },
    rows(test) {
      const name = JSON.stringify(test);
      return sets.get(name)?.rows ?? keepSet(name, test);
    },
    bytes: () =>
      2 * codes.byteLength +
      textBytes +
      combinations.bytes() +
      Math.min(sets.size * (codes.byteLength >>> 5), setsSize),
  };
}

type Values = Pick<Column, 'members' | 'singles' | 'values' | 'numbers'> & {
  readonly valueKinds: readonly number[];
};

/** 1 for each combination with a value that matches the test. */
function testCombinations(test: AttributeTest, own: Values): Uint8Array {
  const { members, singles } = own;
  const matches = test.of === 'equal' ? testEqual(test, own.values) : testWithin(test, own);
  const found = new Uint8Array(members.length);
  for (let code = 1; code < found.length; code++) {
    const only = singles[code] ?? -1;
    if (only >= 0) found[code] = matches[only] ?? 0;
    else for (const place of members[code] ?? []) if (matches[place] === 1) found[code] = 1;
  }
  return found;
}

/** 1 for each value that equals one of those in the test. */
function testEqual(
  { texts, numbers = [] }: Extract<AttributeTest, { readonly of: 'equal' }>,
  values: readonly IndexedValue[],
): Uint8Array {
  const matches = new Uint8Array(values.length);
  const [wanted, wantedNumbers] = [new Set(texts), new Set(numbers)];
  for (let place = 0; place < matches.length; place++) {
    const { text = '', kind } = values[place] ?? {};
    if (wanted.has(text) || (kind === kinds.number && wantedNumbers.has(text))) matches[place] = 1;
  }
  return matches;
}

/** 1 for each value within the bounds. Calls a function only for values on a bound. */
function testWithin(
  { of, bounds }: Exclude<AttributeTest, { readonly of: 'equal' }>,
  { numbers, valueKinds }: Values,
): Uint8Array {
  const matches = new Uint8Array(numbers.length);
  const kind = kinds[of];
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { operator, value } of bounds) {
    if (operator.startsWith('>')) low = Math.max(low, value);
    else high = Math.min(high, value);
  }
  for (let place = 0; place < matches.length; place++) {
    const number = numbers[place] ?? Number.NaN;
    if (!(number >= low && number <= high) || valueKinds[place] !== kind) continue;
    // Only a value on a bound may still be outside.
    if ((number > low && number < high) || bounds.every(bound => isWithinBound(bound, number)))
      matches[place] = 1;
  }
  return matches;
}
