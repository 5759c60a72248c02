/** Measures in a larger or smaller unit: `500 ml` is found by `0,5 l`, `1000ml` by `1l`. */
import { isWholeNumber, splitLettersAndDigits } from '../../../storage/search/text/joined.ts';
import type { Piece } from './pieces.ts';
import { getShortName, getUnitNames, isShortUnit, type Written } from './units.ts';

/** The larger unit, the smaller unit, how many of it the larger has, and the least amount that texts write of either. */
const scales = [
  ['l', 'ml', 1000, 0.1],
  ['l', 'cl', 100, 0.1],
  ['cl', 'ml', 10, 1],
  ['kg', 'g', 1000, 0.1],
  ['m', 'cm', 100, 0.1],
  ['cm', 'mm', 10, 0.1],
  ['g', 'mg', 1000, 1],
  ['kw', 'w', 1000, 1],
  ['ah', 'mah', 1000, 1],
  ['tb', 'gb', 1000, 1],
  ['μf', 'nf', 1000, 0.1],
] as const;

/** Texts do not write more than ten thousand of a unit. */
const maxScale = 10_000;
const maxDigits = 4;

interface Measure {
  readonly amount: number;
  readonly unit: string;
  readonly last: number;
}

/** @returns the query's measures in other units */
export const findOtherScales = (pieces: readonly Piece[]): Written[] =>
  pieces.flatMap((_, first) =>
    parseMeasures(pieces, first).flatMap(({ amount, unit, last }) =>
      convert(amount, unit).flatMap(([other, name]) =>
        listNamesInTexts(name)
          .flatMap(written => writeMeasure(other, written))
          .map(words => ({ choice: words.map(word => ({ word })), first, last })),
      ),
    ),
  );

/** Parses `5l` and `5 l`; also `0,5l`, which is two words, and `0,5 l`, which is three. */
function parseMeasures(pieces: readonly Piece[], first: number): Measure[] {
  const [one = '', two = '', three = ''] = pieces.slice(first, first + 3).map(({ word }) => word);
  const ends = splitLettersAndDigits(two);
  const ways: readonly (readonly [string, string | undefined, string | undefined, number])[] = [
    [...toPair(splitLettersAndDigits(one)), '', 0],
    [one, two, '', 1],
    [one, ends[1], ends.length === 2 ? ends[0] : undefined, 1],
    [one, three, two, 2],
  ];
  return ways.flatMap(([whole, unit, decimals, words]) => {
    const isMeasure = isShortNumber(whole) && (decimals === '' || isShortNumber(decimals));
    const name = isMeasure && unit !== undefined ? getShortName(unit) : undefined;
    return name === undefined
      ? []
      : [{ amount: Number(`${whole}.${decimals}`), unit: name, last: first + words }];
  });
}

const toPair = ([number = '', unit, more]: readonly string[]): [string, string | undefined] =>
  more === undefined ? [number, unit] : ['', undefined];

const isShortNumber = (word: string | undefined): boolean =>
  word !== undefined && word.length <= maxDigits && isWholeNumber(word);

function convert(amount: number, unit: string): [number, string][] {
  return scales.flatMap(([large, small, times, least]): [number, string][] => {
    const found: [number, string][] = [];
    if (unit === large) found.push([amount * times, small]);
    if (unit === small) found.push([amount / times, large]);
    return found.filter(([other]) => other >= least && other <= maxScale);
  });
}

/** The names of a unit that texts write next to a number: `2000 Watt`, `2,5 Liter`. */
const listNamesInTexts = (unit: string): readonly string[] => getUnitNames(unit).filter(isShortUnit);

/** The words into which texts like `0,5 l` and `0.5l` are split. */
function writeMeasure(amount: number, unit: string): string[][] {
  const [whole = '', decimals] = String(Number(amount.toFixed(3))).split('.');
  if (decimals === undefined) return [[whole + unit]];
  return [
    [whole, decimals, unit],
    [whole, decimals + unit],
  ];
}
