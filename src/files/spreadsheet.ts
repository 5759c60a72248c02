/**
 * Handles the peculiarities of CSV from and for spreadsheets: lines that only they write, and cells that they would
 * evaluate, which an apostrophe prevents (OWASP, CSV injection). A formula may begin at the start of a cell, or after a
 * character that a spreadsheet with other settings takes for the end of a cell: in countries with a decimal comma,
 * Excel separates columns by semicolons.
 */

/** Characters that begin a formula; the wide forms do so in East Asian versions. */
const formula = '[=+\\-@＝＋－＠]';
const start = `^["']*(?:${formula}|[\\t\\r\\n])`;

const atRisk = new RegExp(`${start}|[;\\t\\r\\n]["']*${formula}`);
const innerFormula = new RegExp(`([;\\t\\r\\n])(["']*${formula})`, 'g');
const guarded = new RegExp(`${start}|[;\\t\\r\\n]'["']*${formula}`);
const innerGuarded = new RegExp(`([;\\t\\r\\n])'(["']*${formula})`, 'g');

const apostrophe = 39;

/**
 * Puts an apostrophe before anything that would be a formula. A changed cell always begins with an apostrophe, and a
 * cell that looks like a changed one gets another, so that `unguardCell` restores every text exactly.
 */
export function guardCell(text: string): string {
  return atRisk.test(text) ? `'${text.replace(innerFormula, "$1'$2")}` : text;
}

/** Restores the text that `guardCell` has changed; returns any other cell as it is. */
export function unguardCell(cell: string): string {
  // Nearly all cells return here: this runs for every cell of an import.
  if (cell.charCodeAt(0) !== apostrophe) return cell;
  const text = cell.slice(1);
  return guarded.test(text) ? text.replace(innerGuarded, '$1$2') : cell;
}

/** The delimiter that a line such as `sep=;` names for spreadsheets; undefined for any other line. */
export const readDelimiter = (line: string): string | undefined => /^sep=([^"])$/i.exec(line)?.[1];

/** Whether a line has only delimiters: spreadsheets write blank lines this way, between others and after the last. */
export function isBlankRow(line: string, delimiter: string): boolean {
  // Nearly all lines return here: this runs for every record.
  if (!line.startsWith(delimiter)) return false;
  return line === delimiter.repeat(line.length);
}
