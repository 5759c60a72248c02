/** Guarding cells that a spreadsheet would evaluate, and removing the guard. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { guardCell, unguardCell } from '../../src/files/spreadsheet.ts';
import { anyTextOf } from '../support/samples/texts.ts';
import { processorTime } from '../support/service/growth.ts';

const texts = fc.oneof(
  anyTextOf({ maxLength: 20 }),
  fc
    .array(fc.constantFrom("'", '"', '=', '+', '-', '@', '＝', '\t', '\r', '\n', ';', ',', ' ', 'a', '1'), {
      maxLength: 10,
    })
    .map(parts => parts.join('')),
);

/** The cells that a spreadsheet may see in the text: all of it, or the parts between semicolons, tabs and line ends. */
const cellsOf = (text: string): string[] => [text, ...text.split(/[;\t\r\n]/).slice(1)];

test.each([
  ['=1+1', "'=1+1"],
  ['+49 30 1234', "'+49 30 1234"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['＝1+1', "'＝1+1"],
  ['\t=1', "'\t'=1"],
  ['\r', "'\r"],
  ["'=1", "''=1"],
  ['"=1', `'"=1`],
  ['lamp;=1+1', "'lamp;'=1+1"],
  ['two\r\n- lines', "'two\r\n'- lines"],
  ["'lamp;'=1", "''lamp;''=1"],
])('%j is written as %j', (text, cell) => {
  expect(guardCell(text)).toBe(cell);
  expect(unguardCell(cell)).toBe(text);
});

test.each(['', 'lamp', "'", "'lamp'", "'a;b", '1-2', 'a=b', ' =1', 'a;b;c', '"quoted"', "rock 'n' roll"])(
  '%j is written and read as it is',
  text => {
    expect(guardCell(text)).toBe(text);
    expect(unguardCell(text)).toBe(text);
  },
);

test('every text reads back the same, and none is written as a formula', () => {
  fc.assert(
    fc.property(texts, text => {
      const cell = guardCell(text);
      expect(unguardCell(cell)).toBe(text);
      expect(cell).not.toMatch(/^[\t\r\n]/);
      for (const seen of cellsOf(cell)) expect(seen).not.toMatch(/^"*[=+\-@＝＋－＠]/);
    }),
    { numRuns: 2000 },
  );
});

test('the time for many apostrophes, quotation marks or separators grows linearly', async () => {
  for (const character of ["'", '"', ';', '\t', '=', ";'", ';"']) {
    const text = character.repeat(200_000);
    const guarded = () => expect(unguardCell(guardCell(text))).toBe(text);
    expect(await processorTime(guarded)).toBeLessThan(1000);
  }
});
