/** Reads weights in cells: `1.5 kg`, `500g`, `2 lbs`. */
import { type AmountOptions, readAmount } from './amount.ts';

export const weightUnits = ['g', 'kg', 'oz', 'lb'] as const;

export type WeightUnit = (typeof weightUnits)[number];

const units = weightUnits.join(', ');

export interface Weight {
  readonly value: number;
  readonly unit: WeightUnit;
}

const words: Readonly<Record<WeightUnit, readonly string[]>> = {
  g: ['g', 'gr', 'gram', 'grams', 'gramm', 'grammes', 'gramos'],
  kg: ['kg', 'kgs', 'kilogram', 'kilograms', 'kilo', 'kilos', 'kilogramm', 'kilogrammes', 'kilogramos'],
  oz: ['oz', 'ounce', 'ounces'],
  lb: ['lb', 'lbs', 'pound', 'pounds'],
};

/** The unit that a word names, also with the point of an abbreviation, as in `lb.`. */
export function findWeightUnit(word: string): WeightUnit | undefined {
  const name = word.trim().toLowerCase().replace(/\.$/, '');
  return weightUnits.find(unit => words[unit].includes(name));
}

/** Longer texts are no weights: Unicode normalisation orders the marks on one letter in quadratic time. */
const maxLength = 1000;

function getLettersAtEnd(text: string): string {
  let start = text.length;
  while (start > 0 && /[a-z]/i.test(text.charAt(start - 1))) start -= 1;
  return text.slice(start);
}

/**
 * @param unit the unit of a number without one
 * @returns undefined for an empty text or 0; a phrase that says why it cannot be read; otherwise the weight
 */
export function readWeight(
  text: string,
  unit: WeightUnit | undefined,
  options: Pick<AmountOptions, 'decimal'>,
): Weight | string | undefined {
  if (text.length > maxLength) return `must be a number and one of ${units}`;
  // As in amounts, full-width characters. The point of an abbreviation is no part of a number.
  const trimmed = text
    .normalize('NFKC')
    .trim()
    .replace(/(?<=[a-z])\.$/i, '');
  if (trimmed === '') return undefined;
  const letters = getLettersAtEnd(trimmed);
  const named = letters === '' ? unit : findWeightUnit(letters);
  if (letters === '' && named === undefined) return `must have a unit (${units}), or add --weight-unit`;
  if (named === undefined) return `must be a number and one of ${units}`;
  const amount = readAmount(trimmed.slice(0, trimmed.length - letters.length), options);
  if (typeof amount === 'string') return amount;
  if (amount.value < 0) return 'must be more than 0';
  return amount.value === 0 ? undefined : { value: amount.value, unit: named };
}
