/** Marks for inches after a number: `27"` is read as `27 in`. */
import { numeral } from './joined.ts';

/** The shortest name of the unit, in its indexed form. */
const inch = 'in';
/** What is typed for a double prime, and other quotation marks, since some of these may be meant as such. */
const marks = /["″”“„]|''/g;

/** The most marks in a text: more than any meaningful text has. Each forms several words with its neighbours. */
const maxMarks = 5000;

/** Where a mark is in a text. */
interface Mark {
  readonly start: number;
  readonly end: number;
}

/** Nearly all texts have none, and need not be searched character by character. */
const mayHaveMarks = (text: string): boolean =>
  text.includes('"') || text.includes('”') || text.includes('″') || text.includes("''");

const none: readonly Mark[] = [];

/** Finds the marks for inches in a text. A mark that ends a quotation is not one: `"size 14"`. */
export function findInchMarks(text: string): readonly Mark[] {
  if (!mayHaveMarks(text)) return none;
  const found: Mark[] = [];
  let isQuoted = false;
  for (const { 0: mark, index } of text.matchAll(marks)) {
    if (found.length === maxMarks) break;
    const isQuotation = mark !== '″' && mark !== "''";
    if (mark === '“' || mark === '„' || (isQuotation && isQuoted)) isQuoted = mark === '„' || !isQuoted;
    else if (numeral.test(text.charAt(index - 1))) found.push({ start: index, end: index + mark.length });
    else if (mark === '"') isQuoted = true;
  }
  return found;
}

/** The text with the unit in place of its marks. */
export function replaceInchMarks(text: string): string {
  const found = findInchMarks(text);
  if (found.length === 0) return text;
  let written = '';
  let last = 0;
  for (const { start, end } of found) {
    written += `${text.slice(last, start)} ${inch} `;
    last = end;
  }
  return written + text.slice(last);
}

/** The words that a mark is read as. */
export const inchWords: readonly string[] = [inch];
