/** The order of a column in memory. */
import { expect, test } from 'bun:test';
import { kinds } from '../../src/storage/attributes/values.ts';
import { createColumn } from '../../src/storage/columns/column.ts';
import { selectPage } from '../../src/storage/columns/line.ts';

const toValues = (number: number) => [{ kind: kinds.number, text: String(number), number }];

test('rows are in order although the price of one has changed while prices were read', async () => {
  const column = createColumn(true);
  const prices = [0, 10, 20, 30, 40];
  for (const id of [1, 2, 3, 4]) column.add([id], toValues(prices[id] ?? 0));
  // Read again at its new price.
  column.add([1], toValues(50));
  await column.arrange();
  column.set(1, toValues(50));
  column.set(4, toValues(15));
  column.set(3, toValues(5));
  // With the rows that have moved, and again once they have been put in order.
  for (let time = 0; time < 2; time++) {
    const line = column.line();
    const rows = column.rows({ of: 'number', bounds: [{ operator: '>=', value: 0 }] });
    const page = { rows, descending: false, start: undefined, skip: 0, count: 10 };
    expect(line && selectPage(line, page)).toEqual([3, 4, 2, 1]);
    const start = { place: 5, id: 3 };
    expect(line && selectPage(line, { ...page, start, count: 2 })).toEqual([4, 2]);
    await column.arrange();
  }
});
