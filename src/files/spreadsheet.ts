/**
 * Cells of a CSV file that a spreadsheet would evaluate, and the apostrophe that keeps it from doing so (OWASP, CSV
 * injection). A cell is at risk by its beginning, and after a character that a spreadsheet with other settings takes
 * for the end of a cell: where the decimal comma is usual, Excel separates columns by semicolons.
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
