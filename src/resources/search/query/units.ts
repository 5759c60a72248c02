/** Units of measure that go by several names: `5 gallons` is found by `5 gal` and `5gal`. */
import type { Choice } from '../../../storage/search/expression.ts';
import {
  hasDigit,
  isWholeNumber,
  maxUnitLength,
  splitLettersAndDigits,
} from '../../../storage/search/text/joined.ts';
import type { Piece } from './pieces.ts';

/** The names of each unit, in their indexed form: `μ` is the letter that the micro sign is folded to. */
const units = [
  'in inch inches zoll pouce pouces pulgada pulgadas pollice pollici polegada polegadas tum tommer cali inc',
  'ft foot feet fuss',
  'yd yard yards',
  'mm millimeter millimetre millimeters millimetres',
  'cm centimeter centimetre centimeters centimetres zentimeter',
  'm meter metre meters metres metro metros metri',
  'm2 qm sqm',
  'm3 cbm',
  'μg ug mcg microgram micrograms mikrogramm',
  'mg milligram milligrams milligramm',
  'g gr gram grams gramm gramme grammes gramo gramos grammi gramas',
  'kg kilogram kilograms kilo kilos kilogramm kilogramme kilogrammes',
  'oz ounce ounces unze unzen',
  'lb lbs pound pounds pfund',
  'cl',
  'ml milliliter millilitre milliliters millilitres',
  'l ltr liter litre liters litres litro litros litri litr litry litrow',
  'gal gallon gallons',
  'qt quart quarts',
  'w watt watts vatios',
  'kw kilowatt kilowatts',
  'wh',
  'v volt volts',
  'a amp amps ampere',
  'ah',
  'mah',
  'nf',
  'pf',
  'μf uf',
  'μh uh',
  'ω ohm ohms',
  'kω kohm kohms',
  'mω mohm mohms',
  'bar',
  'hz hertz',
  'ghz',
  'lm lumen lumens',
  'mp megapixel megapixels',
  'hp horsepower ps',
  'gb gigabyte gigabytes',
  'tb terabyte terabytes',
  'h hr hrs hour hours stunden heure heures',
  'pc pcs piece pieces stuck stk teilig tlg er stuks styck unidades pezzi szt sztuk adet',
  'pk pack packs',
  'ct count',
].map(names => names.split(' '));

/** All names of a unit, by each of them. */
const namesOf: ReadonlyMap<string, readonly string[]> = new Map([
  ...units.flatMap(names => names.map((name): [string, string[]] => [name, names])),
  // Not the other way round: `10k` may also be the beginning of `10kω`.
  ['kelvin', ['kelvin', 'k']],
]);

export const getShortName = (unit: string): string | undefined => namesOf.get(unit)?.[0];

export const getUnitNames = (unit: string): readonly string[] => namesOf.get(unit) ?? [];

export const isUnit = (word: string): boolean => namesOf.has(word);

/** Another way to write the words of a query from index `first` to `last`. */
export interface Written {
  readonly choice: Choice;
  readonly first: number;
  readonly last: number;
}

/**
 * @returns other ways to write numbers with units: with another name of the unit, as one word or two, and whole numbers
 *   with or without `.0`
 */
export function findOtherUnits(pieces: readonly Piece[]): Written[] {
  return pieces.flatMap(({ word }, first) => {
    const [number] = splitLettersAndDigits(word);
    if (number !== undefined) {
      // All of the rest: `m2` of `20m2` has letters and a digit.
      const unit = word.slice(number.length);
      return [
        ...rewriteOneWord(number, unit, first),
        ...addZero(number, unit, first),
        ...(first < pieces.length - 1 ? addOhm(number, unit, first) : []),
      ];
    }
    const next = pieces[first + 1]?.word ?? '';
    return [
      ...rewriteTwoWords(word, next, first),
      ...removeZero(pieces, first),
      // A last number of two or more digits is also searched as a prefix, which finds packs.
      ...(isUnit(next) || (next === '' && word.length > 1) ? [] : addPack(word, first)),
    ];
  });
}

/** Endings of the size of a pack: `8er` in German, `8s` in British English. */
const packEndings = ['er', 's'] as const;
const maxPackLength = 3;

const addPack = (number: string, at: number): Written[] =>
  isWholeNumber(number) && number.length <= maxPackLength
    ? packEndings.map(ending => ({ choice: [{ word: number + ending }], first: at, last: at }))
    : [];

/** `10k` for `10 kΩ`, as parts of circuits are named. The last word of a query is a prefix anyway. */
const addOhm = (number: string, unit: string, at: number): Written[] =>
  unit === 'k' ? [{ choice: [{ word: `${number}kω` }], first: at, last: at }] : [];

/** `4ah` as in texts with `4.0Ah` or `4,0 Ah`, whose words are `4` and `0ah`. */
function addZero(number: string, unit: string, at: number): Written[] {
  if (!(isWholeNumber(number) && isUnit(unit) && isShortUnit(unit))) return [];
  return [{ choice: [{ word: number }, { word: `0${unit}` }], first: at, last: at }];
}

/** `4.0ah` (two words) and `4.0 ah` (three) as the one word of texts with `4Ah` or `4 Ah`. */
function removeZero(pieces: readonly Piece[], first: number): Written[] {
  const [number = '', next = '', third = ''] = pieces.slice(first, first + 3).map(({ word }) => word);
  if (!isWholeNumber(number)) return [];
  const [zero = '', unit = ''] = splitLettersAndDigits(next);
  const [name, words] = next === '0' ? [third, 3] : [zero === '0' ? unit : '', 2];
  return isUnit(name) && isShortUnit(name)
    ? [{ choice: [{ word: number + name }], first, last: first + words - 1 }]
    : [];
}

function rewriteOneWord(number: string, unit: string, at: number): Written[] {
  return findOtherNames(number, unit).map(other => ({
    choice: isShortUnit(other) ? [{ word: number + other }] : [{ word: number }, { word: other }],
    first: at,
    last: at,
  }));
}

function rewriteTwoWords(number: string, unit: string, first: number): Written[] {
  return findOtherNames(number, unit).map(other =>
    isShortUnit(other)
      ? { choice: [{ word: number + other }], first, last: first + 1 }
      : { choice: [{ word: other }], first: first + 1, last: first + 1 },
  );
}

/** Other names of a unit that follows a whole number. */
const findOtherNames = (number: string, unit: string): readonly string[] =>
  isWholeNumber(number) ? getUnitNames(unit).filter(name => name !== unit) : [];

/** Whether the index also has a number and this name as one word if a text writes them apart. */
export const isShortUnit = (name: string): boolean => name.length <= maxUnitLength;

/** Phrases before the most that something may cost, by their first words; those with the most words first. */
const limits: ReadonlyMap<string, readonly (readonly string[])[]> = Map.groupBy(
  [
    'moins de, menos de, meno di, minder dan, less than, weniger als, up to, upp till, op til, opp til, fino a, sotto i',
    'onder de, under, below, unter, bis, sotto, hasta, onder, tot, ate, do, ponizej, jusqua',
  ].flatMap(phrases => phrases.split(', ').map(phrase => phrase.split(' '))),
  ([first = '']) => first,
);
const currencies: ReadonlySet<string> = new Set([
  ...'eur euro euros usd dollar dollars gbp chf fr franken francs franchi'.split(' '),
  ...'sek dkk nok kr kronor kroner pln zl tl'.split(' '),
]);

/** The words from `first` to before `end` limit the price. */
interface Limit {
  readonly first: number;
  readonly end: number;
}

/** Finds prices with their limit, at the end of a query or with a currency: `under 20`, `bis 20 euro`. */
function* findLimits(pieces: readonly Piece[]): Generator<Limit> {
  const readWord = (at: number): string => pieces[at]?.word ?? '';
  for (let first = 0; first < pieces.length; first++) {
    const phrases = limits.get(readWord(first));
    const phrase = phrases?.find(words => words.every((word, at) => word === readWord(first + at)));
    const number = first + (phrase?.length ?? 0);
    if (phrase === undefined || !isWholeNumber(readWord(number))) continue;
    const next = number + (pieces[number + 1]?.isAdjacent === true ? 2 : 1);
    const end = currencies.has(readWord(next)) ? next + 1 : next;
    if (end > next || end === pieces.length) yield { first, end };
  }
}

/**
 * Whether hits need not have a word: the `x` of `200 x 100`, the `no` of `no sugar`, or a price, as in `under 20` or
 * `bis 20 euro`.
 */
export function isIncidental(pieces: readonly Piece[], index: number): boolean {
  const readWord = (at: number): string => pieces[at]?.word ?? '';
  // Repeated words are left out: `60 x 60` has no third word.
  if (readWord(index) === 'x')
    return hasDigit(readWord(index - 1)) && (index === pieces.length - 1 || hasDigit(readWord(index + 1)));
  if (readWord(index) === 'no') return index < pieces.length - 1;
  return findLimits(pieces).some(({ first, end }) => index >= first && index < end);
}
