/** Sets of rows, pages of them in an order, and facets, compared with what the plain definition gives. */
import { expect, test } from 'bun:test';
import { type IndexedValue, kinds } from '../../../src/storage/attributes/values.ts';
import { createColumn } from '../../../src/storage/columns/column.ts';
import { computeFacetRange, computeFacetValues } from '../../../src/storage/columns/facet.ts';
import {
  type LinePosition,
  maxMoved,
  selectPage,
  selectPageById,
  type Taken,
} from '../../../src/storage/columns/line.ts';
import { countByCombination, toIds, toRowSet } from '../../../src/storage/columns/rows.ts';

const toNumber = (number: number): IndexedValue[] => [{ kind: kinds.number, text: String(number), number }];
const toText = (text: string): IndexedValue => ({ kind: kinds.text, text, number: null });
/** Draws integers from 0 to a maximum, the same ones in each run. */
function createRandom() {
  let state = 1;
  return (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * (most + 1));
  };
}
const byNumber = (a: number, b: number) => a - b;

/** The page by its definition. @param placeOf the number that rows are in the order of, and then of their ids */
function expectPage(ids: readonly number[], placeOf: (id: number) => number, taken: Omit<Taken, 'rows'>) {
  const sign = taken.descending ? -1 : 1;
  const compare = (a: LinePosition, b: LinePosition) => sign * (a.place - b.place || a.id - b.id);
  const { start, skip, count } = taken;
  return ids
    .map(id => ({ place: placeOf(id), id }))
    .filter(position => start === undefined || compare(position, start) > 0)
    .sort(compare)
    .slice(skip, skip + count)
    .map(({ id }) => id);
}

/** A column of as many rows, with few different numbers, some of which have changed since they were arranged. */
async function createNumbers(size: number, changed: number, draw: (most: number) => number) {
  const column = createColumn(true);
  const numbers = Array.from({ length: size + 1 }, () => draw(20));
  for (let id = 1; id <= size; id++) column.add([id], toNumber(numbers[id] ?? 0));
  await column.arrange();
  for (let time = 0; time < changed; time++) {
    const id = 1 + draw(size - 1);
    numbers[id] = draw(20);
    column.set(id, toNumber(numbers[id] ?? 0));
  }
  return { column, placeOf: (id: number) => numbers[id] ?? Number.NaN };
}

test.each([
  ['few rows, none of them moved', 130, 0, 100],
  ['few rows, most of them moved', 130, 200, 100],
  ['few of many rows', 6000, 20, 150],
])('pages of %s', async (_, size, changed, chosen) => {
  const draw = createRandom();
  const { column, placeOf } = await createNumbers(size, changed, draw);
  const line = column.line();
  if (line === undefined) throw new Error('the column has no line');
  for (let round = 0; round < 150; round++) {
    const ids = [...new Set(Array.from({ length: draw(chosen) }, () => 1 + draw(size - 1)))].sort(byNumber);
    const [descending, from] = [draw(1) === 1, 1 + draw(size)];
    const isFirst = draw(3) === 0;
    const start = isFirst ? undefined : { place: placeOf(from > size ? 1 : from), id: from };
    // Pages past a position skip no rows.
    const part = { descending, skip: isFirst ? draw(70) : 0, count: 1 + draw(20) };
    const rows = toRowSet(ids);
    expect(rows.count).toBe(ids.length);
    expect(selectPage(line, { rows, ...part, start })).toEqual(expectPage(ids, placeOf, { ...part, start }));
    const past = start && { place: from, id: from };
    expect(selectPageById({ rows, ...part, start: past })).toEqual(
      expectPage(ids, id => id, { ...part, start: past }),
    );
    const counts = await countByCombination(column, rows);
    const codes = ids.map(id => column.codes()[id]);
    const expected = column.uses.map((_, code) => codes.filter(own => own === code).length);
    // Combination 0 is that of rows without a value.
    expect([...counts].slice(1)).toEqual(expected.slice(1));
  }
});

test('rows are put in order once more than the maximum have moved', async () => {
  const { column } = await createNumbers(3 * maxMoved, 0, createRandom());
  for (let id = 1; id <= maxMoved + 1; id++) column.set(id, toNumber(100 - (id % 50)));
  const deadline = Date.now() + 5000;
  while ((column.line()?.moved.size ?? 0) > 0 && Date.now() < deadline)
    await new Promise(resolve => setImmediate(resolve));
  expect(column.line()?.moved.size).toBe(0);
  column.set(2000, toNumber(1000));
  expect([...(column.line()?.moved ?? [])]).toEqual([2000]);
});

test('a combination that rows only passed through while they were read is a new one later', async () => {
  const column = createColumn();
  for (const text of ['a', 'b', 'c', 'd']) column.add([1], [toText(text)]);
  await column.arrange();
  column.set(2, [toText('a'), toText('b')]);
  column.set(3, [toText('b'), toText('a')]);
  const counts = ['a', 'b', 'c', 'd'].map(text => column.rows({ of: 'equal', texts: [text] }).count);
  expect(counts).toEqual([3, 3, 1, 1]);
  expect(column.codes()[3]).toBe(column.codes()[2]);
  // From then on, a number keeps its combination, which facets that are counted later rely on.
  const code = column.codes()[2] ?? 0;
  const own = column.members[code];
  for (const id of [2, 3]) column.set(id, []);
  column.set(4, [toText('c'), toText('d')]);
  expect(own).toHaveLength(2);
  expect(column.members[code]).toEqual(own);
});

test('a number on an edge is in the bucket that begins there, even if a quotient is rounded', async () => {
  for (const factor of [0.1, 0.01, 3, 0.07, 1e-5]) {
    const column = createColumn(true);
    const numbers = Array.from({ length: 10 }, (_, index) => Number((index * factor).toPrecision(12)));
    for (const [id, number] of numbers.entries()) column.add([id + 1], toNumber(number));
    for (const rows of [undefined, toRowSet(numbers.map((_, index) => index + 1))]) {
      const { buckets } = await computeFacetRange(column, rows);
      const last = buckets.length - 1;
      const expected = buckets.map(({ from, to }, place) => ({
        ...{ from, to },
        count: numbers.filter(one => one >= from && (one < to || (place === last && one === to))).length,
      }));
      expect(buckets).toEqual(expected);
      expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(numbers.length);
    }
  }
});

test('among equally frequent values, numbers come first, then all others by code point', async () => {
  const texts = ['a', 'ab', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10fc00}', 'true'];
  const values: IndexedValue[] = [
    ...texts.map(toText),
    { kind: kinds.boolean, text: 'true', number: null },
    ...[10, 9, -1].flatMap(toNumber),
  ];
  const ordered = ['a', 'ab', 'true', true, '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10fc00}'];
  for (const given of [values, values.toReversed()]) {
    const column = createColumn();
    for (const [index, value] of given.entries()) column.add([index + 1], [value]);
    const shown = (await computeFacetValues(column, undefined)).values.map(({ value }) => value);
    expect(shown).toEqual([-1, 9, 10, ...ordered]);
  }
});

test('the most frequent values are shown, in whatever order they are found', async () => {
  const column = createColumn();
  const many = 150;
  let id = 0;
  for (let place = 1; place <= many; place++)
    for (let time = 0; time < place; time++) column.add([++id], toNumber(place));
  const { values, more } = await computeFacetValues(column, undefined);
  const expected = Array.from({ length: 100 }, (_, index) => ({ value: many - index, count: many - index }));
  expect([values, more]).toEqual([expected, 50]);
});

test('a number must be within all bounds, in whatever order they are given', () => {
  const column = createColumn(true);
  for (let number = 1; number <= 9; number++) column.add([number], toNumber(number));
  column.add([10], [{ kind: kinds.date, text: '5', number: 5 }]);
  const bounds = [
    { operator: '>=', value: 3 },
    { operator: '>', value: 2 },
    { operator: '<', value: 7 },
    { operator: '<=', value: 8 },
  ] as const;
  for (const ordered of [bounds, bounds.toReversed()])
    expect(toIds(column.rows({ of: 'number', bounds: ordered }))).toEqual([3, 4, 5, 6]);
});

test('a bounded number of sets is kept, the newest ones', () => {
  const column = createColumn();
  column.add([1], [toText('a')]);
  const find = (text: string) => column.rows({ of: 'equal', texts: [text] });
  const first = find('first');
  for (let place = 1; place < 64; place++) find(`${place}`);
  expect(find('first')).toBe(first);
  find('one more');
  expect(find('first')).not.toBe(first);
});
