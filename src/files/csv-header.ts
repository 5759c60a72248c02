/** What the first lines of a CSV file say: between which characters its columns stand, and what they are called. */

const otherDelimiter =
  'is the header and has | between its columns; save the file with commas, semicolons or tabs between them';
export const loneReturns = 'ends with a carriage return alone; save the file with line ends of LF or CRLF';

/** The delimiter that occurs most often outside quotation marks in the header: comma, semicolon or tab. */
export function detectDelimiter(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '');
  const count = (delimiter: string): number => bare.split(delimiter).length;
  return [';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best), ',');
}

/** The delimiter that a file names in its first line, `sep=;`, for spreadsheets; undefined where it is another line. */
export const readDelimiter = (line: string): string | undefined => /^sep=([^"])$/i.exec(line)?.[1];

/** Whether a line has delimiters only: spreadsheets write so the blank lines among others, and those behind the last. */
export function isBlankRow(line: string, delimiter: string): boolean {
  // Nearly all lines end here: this runs for every record.
  if (!line.startsWith(delimiter)) return false;
  return line === delimiter.repeat(line.length);
}

/** Why a header cannot be used, if so. Columns without a name are allowed: spreadsheets leave them behind. */
export function headerProblem(columns: readonly string[]): string | undefined {
  const [only = ''] = columns;
  if (columns.length === 1 && only.includes('|')) return otherDelimiter;
  if (columns.some(name => name.includes('\r'))) return loneReturns;
  const named = columns.filter(name => name !== '');
  const twice = named.find((name, index) => named.indexOf(name) !== index);
  if (named.length === 0) return 'is the header and names no column';
  return twice === undefined
    ? undefined
    : `is the header and has the column "${twice}" twice; rename one of them`;
}
