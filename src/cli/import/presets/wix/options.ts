/** Reads the six options of Wix: their names are in the row of the product, their values also in those of variants. */
import { splitList } from '../../../../files/cells/list.ts';
import { decodePlainText } from '../cells.ts';
import type { Row } from '../preset.ts';

/** Also the numbers of a product's sections. */
export const optionNumbers = [1, 2, 3, 4, 5, 6] as const;

/** Columns of Wix have the case of its exports, whatever a file has. */
const readNumbered = (row: Row, name: string, number: number): string => {
  const column = row.columns.english.get(`${name}${number}`.toLowerCase());
  return column === undefined ? '' : row.cell(column);
};

/** The names of options; empty for one without a name, or with that of an earlier option. */
export const listOptions = (own: Row): string[] =>
  optionNumbers
    .map(number => decodePlainText(readNumbered(own, 'productOptionName', number)))
    .map((name, index, all) => (all.indexOf(name) === index ? name : ''));

/** A colour comes before the name of a value: `#b81616:Red`, `rgb(193,180,123):Cream`. */
const colour = /^(?:#[0-9a-f]{3,8}|rgba?\([^)]{0,40}\)):(?=.)/i;

/** The values of each option: those that the product offers, or the one of a variant. */
export const listValues = (row: Row): string[][] =>
  optionNumbers.map(number =>
    splitList(decodePlainText(readNumbered(row, 'productOptionDescription', number)), ';').map(value =>
      value.replace(colour, ''),
    ),
  );
