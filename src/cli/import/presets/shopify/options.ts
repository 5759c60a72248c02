/** Reads the three options of Shopify's rows. */
import type { Row } from '../preset.ts';

export const optionNumbers = ['1', '2', '3'] as const;

/** The names of options; empty for one without a name, or with that of an earlier option. */
export const readOptionNames = (row: Row): string[] =>
  optionNumbers
    .map(number => row.text(`option${number}Name`))
    .map((name, index, all) => (all.indexOf(name) === index ? name : ''));

export const readOptionValues = (row: Row): string[] =>
  optionNumbers.map(number => row.text(`option${number}Value`));
