/**
 * What is particular to CSV from and for spreadsheets: lines that only they write, and cells that they would evaluate,
 * with the apostrophe that keeps them from doing so (OWASP, CSV injection). A cell is at risk by its beginning, and
 * after a character that a spreadsheet with other settings takes for the end of a cell: where the decimal comma is
 * usual, Excel separates columns by semicolons.
 */

/** What begins a formula; the wide forms do in East Asian versions. */
const formula = '[=+\\-@＝＋－＠]';
const start = `^["']*(?:${formula}|[\\t\\r\\n])`;

const atRisk = new RegExp(`${start}|[;\\t\\r\\n]["']*${formula}`);
const innerFormula = new RegExp(`([;\\t\\r\\n])(["']*${formula})`, 'g');
const guarded = new RegExp(`${start}|[;\\t\\r\\n]'["']*${formula}`);
const innerGuarded = new RegExp(`([;\\t\\r\\n])'(["']*${formula})`, 'g');

const apostrophe = 39;

/**
 * The cell with an apostrophe before what would be a formula. A cell that is changed always begins with one, and a
 * cell that looks as if it had been changed gets another, so that `unguardCell` gives back every text exactly.
 */
export function guardCell(text: string): string {
  return atRisk.test(text) ? `'${text.replace(innerFormula, "$1'$2")}` : text;
}

/** The text of which `guardCell` has made the cell; any other cell as it is. */
export function unguardCell(cell: string): string {
  // Nearly all cells end here: this runs for every cell of an import.
  if (cell.charCodeAt(0) !== apostrophe) return cell;
  const text = cell.slice(1);
  return guarded.test(text) ? text.replace(innerGuarded, '$1$2') : cell;
}

/** The delimiter that a file names in its first line, `sep=;`, for spreadsheets; undefined where it is another line. */
export const readDelimiter = (line: string): string | undefined => /^sep=([^"])$/i.exec(line)?.[1];

/** Whether a line has delimiters only: spreadsheets write so the blank lines among others, and those behind the last. */
export function isBlankRow(line: string, delimiter: string): boolean {
  // Nearly all lines end here: this runs for every record.
  if (!line.startsWith(delimiter)) return false;
  return line === delimiter.repeat(line.length);
}
