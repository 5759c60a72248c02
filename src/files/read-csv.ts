/**
 * Reads CSV (RFC 4180) with a header row. The parser of a library, which looks at every byte, took several times the
 * CPU per record. This one splits lines without quotation marks, which are nearly all, with the native `split`.
 */

import { createShortRowFilter } from './cells/short-rows.ts';
import { countLines, findAfterSpaces, findLineEnd, omitLines, readWholeLines } from './read-text.ts';
import {
  createUnreadableRecord,
  holdsDamage,
  maxRawOfTooLong,
  maxRecordLength,
  notUtf8,
  type SourceRecord,
  tooLong,
} from './record.ts';
import { isBlankRow, readDelimiter, unguardCell } from './spreadsheet.ts';

const quote = 34;
const tab = 9;
const newline = 10;
const carriageReturn = 13;

/** A row split into fields; `end` is the index after its line end. */
interface Row {
  readonly fields: readonly string[];
  readonly end: number;
}

const unclosed = 'has a quotation mark that is not closed';
const afterQuote = 'has text after a closing quotation mark';
const insideField = 'has a quotation mark inside a field that does not begin with one';

const otherDelimiter =
  'is the header and has | between its columns; save the file with commas, semicolons or tabs between them';
const loneReturns = 'ends with a carriage return alone; save the file with line ends of LF or CRLF';

const omitQuoted = (header: string): string => header.replace(/"[^"]*"/g, '');

/** Whether a header that cannot be split has bars between its columns, which may be quoted: `"sku"|"name"`. */
const hasBars = (bare: string): boolean => bare.includes('|') && !/[,;\t]/.test(bare);

/** The delimiter that occurs most often outside quotation marks in the header: comma, semicolon or tab. */
function detectDelimiter(header: string): string {
  const bare = omitQuoted(header);
  const count = (delimiter: string): number => bare.split(delimiter).length;
  return [';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best), ',');
}

/** The index of the closing quotation mark of the field that opens at `open`, or -1. */
function findClosingQuote(text: string, open: number): number {
  let at = text.indexOf('"', open + 1);
  while (at >= 0 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2);
  return at;
}

/**
 * Splits a row that contains quotation marks and may span lines; returns a string if it cannot be split, with the
 * reason. Spaces around the quotation marks of a field are left out: people write them after commas, and editors align
 * columns with them. Fields separated by tabs need no quoting (text/tab-separated-values), so a quotation mark that
 * does not enclose a whole field is an ordinary character: `Monitor 27" Full HD`.
 */
function cutQuotedRow(text: string, start: number, delimiter: number): Row | string {
  const fields: string[] = [];
  const findMark = (at: number): number => (delimiter === tab ? at : findAfterSpaces(text, at));
  for (let at = start; ; at += 1) {
    const from = at;
    const open = findMark(at);
    if (text.charCodeAt(open) === quote) {
      const close = findClosingQuote(text, open);
      if (close < 0) return unclosed;
      const field = text.slice(open + 1, close);
      at = findMark(close + 1);
      if (text.charCodeAt(at) === carriageReturn && findLineEnd(text, at) === at + 1) at += 1;
      const last = at >= text.length || text.charCodeAt(at) === newline;
      if (last || text.charCodeAt(at) === delimiter) {
        fields.push(field.includes('"') ? field.replaceAll('""', '"') : field);
        if (last) return { fields, end: at + 1 };
        continue;
      }
      if (delimiter !== tab || /[\t\n]/.test(field)) return afterQuote;
    }
    let code = text.charCodeAt(at);
    while (at < text.length && code !== delimiter && code !== newline) {
      if (code === quote && delimiter !== tab) return insideField;
      at += 1;
      code = text.charCodeAt(at);
    }
    const last = at >= text.length || code === newline;
    const end = last && at > from && text.charCodeAt(at - 1) === carriageReturn ? at - 1 : at;
    fields.push(text.slice(from, end));
    if (last) return { fields, end: at + 1 };
  }
}

/** Peculiarities of the header in shops' files. */
export interface HeaderOptions {
  /** The number of its line, 1 by default: what comes before is not read. */
  readonly line?: number | undefined;
  /** Whether to skip lines that begin with # before the header. */
  readonly comments?: boolean | undefined;
  /** Columns that may occur several times: their values are joined by commas. */
  readonly repeated?: Pick<RegExp, 'test'> | undefined;
}

/** Why a header cannot be used; undefined if it can. Spreadsheets leave columns without a name, which are allowed. */
function findHeaderProblem(columns: readonly string[], repeated?: Pick<RegExp, 'test'>): string | undefined {
  const [only = ''] = columns;
  if (columns.length === 1 && only.includes('|')) return otherDelimiter;
  if (columns.some(name => name.includes('\r'))) return loneReturns;
  const named = columns.filter(name => name !== '');
  const seen = new Set<string>();
  const twice = named.find(name => repeated?.test(name) !== true && seen.size === seen.add(name).size);
  if (named.length === 0) return 'is the header and names no column';
  return twice === undefined
    ? undefined
    : `is the header and has the column "${twice}" twice; rename one of them`;
}

/** Parses a file block by block. After a row that cannot be split, continues with the next physical line. */
class CsvParser {
  /** True after a header that cannot be used: the rest is not read. */
  stopped = false;
  #line: number;
  /** The column of each field, and the columns without duplicates. */
  #columns: { readonly all: readonly string[]; readonly distinct: readonly string[] } | undefined;
  #delimiter = ',';
  /** The delimiter that the first line names, as in `sep=;`. */
  #named: string | undefined;
  /** The beginning of a row whose end has not been read yet. */
  #unfinished = '';
  #damaged = false;
  readonly #safe: boolean;
  readonly #header: HeaderOptions;

  constructor(safe: boolean, header: HeaderOptions) {
    this.#safe = safe;
    this.#header = header;
    this.#line = header.line ?? 1;
  }

  /** The rows of `block`, which ends with a whole line; `final` if the row at its end cannot continue. */
  parse(block: string, damaged: boolean, final: boolean): SourceRecord[] {
    const text = this.#unfinished + block;
    this.#damaged = damaged || (this.#damaged && this.#unfinished !== '');
    this.#unfinished = '';
    const records: SourceRecord[] = [];
    let nextQuote = -1;
    for (let start = 0; start < text.length && !this.stopped; ) {
      if (nextQuote < start) nextQuote = text.indexOf('"', start);
      if (nextQuote < 0) nextQuote = text.length;
      const end = findLineEnd(text, start);
      if (nextQuote >= end) {
        const line = text.slice(
          start,
          end > start && text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end,
        );
        if (line !== '') this.#plainRow(line, end < text.length, records);
        this.#line += 1;
        start = end + 1;
        continue;
      }
      if (this.#columns === undefined) this.#findDelimiter(text.slice(start, end));
      const row = cutQuotedRow(text, start, this.#delimiter.charCodeAt(0));
      if (row === unclosed && !final && text.length - start <= maxRecordLength) {
        this.#unfinished = text.slice(start);
        break;
      }
      start = this.#quotedRow(row, text, start, records);
    }
    return records;
  }

  /** Handles a line that is too long for any row; it also ends an unfinished row. */
  skipLine(beginning: string): SourceRecord[] {
    const records = this.parse('', false, true);
    if (this.#columns === undefined) records.push(this.#noHeader(tooLong, beginning));
    else records.push(createUnreadableRecord(this.#line, tooLong, beginning));
    this.#line += 1;
    return records;
  }

  #findDelimiter(header: string): void {
    this.#delimiter = this.#named ?? detectDelimiter(header);
  }

  #plainRow(line: string, isEnded: boolean, records: SourceRecord[]): void {
    if (this.#line === 1) {
      this.#named = readDelimiter(line);
      if (this.#named !== undefined) return;
    }
    if (this.#columns === undefined) this.#findDelimiter(line);
    if (isBlankRow(line, this.#delimiter)) return;
    this.#take(line.split(this.#delimiter), line, isEnded, records);
  }

  /** Takes a row, or reports why it could not be split; returns where the next row starts. */
  #quotedRow(row: Row | string, text: string, start: number, records: SourceRecord[]): number {
    const cut = typeof row !== 'string' && row.end - start <= maxRecordLength ? row : undefined;
    if (cut === undefined) {
      const end = findLineEnd(text, start);
      const raw = text.slice(start, Math.min(end, start + maxRawOfTooLong)).trimEnd();
      const reason = typeof row === 'string' ? row : tooLong;
      if (this.#columns !== undefined) records.push(createUnreadableRecord(this.#line, reason, raw));
      // Lines that explain the columns are prose, with quotation marks anywhere.
      else if (this.#header.comments !== true || !raw.startsWith('#'))
        records.push(this.#noHeader(reason, raw));
      this.#line += 1;
      return end + 1;
    }
    const isEnded = cut.end <= text.length;
    this.#take(cut.fields, text.slice(start, cut.end).replace(/\r?\n$/, ''), isEnded, records);
    this.#line += countLines(text, start, cut.end);
    return cut.end;
  }

  /** Stops the parser: without a header, the rest of the file has no meaning. */
  #noHeader(problem: string, raw: string): SourceRecord {
    this.stopped = true;
    const reason = raw.includes('\r') ? loneReturns : hasBars(omitQuoted(raw)) ? otherDelimiter : problem;
    return { ...createUnreadableRecord(this.#line, reason, raw.slice(0, maxRawOfTooLong)), fatal: true };
  }

  /** @param isEnded whether the row has a line end: without one, a file that is cut off would end within the row */
  #take(fields: readonly string[], raw: string, isEnded: boolean, records: SourceRecord[]): void {
    if (this.#columns === undefined) {
      if (this.#header.comments === true && fields[0]?.startsWith('#') === true) return;
      const columns = fields.map(name => name.trim());
      const damage = holdsDamage(this.#damaged, raw) ? notUtf8 : undefined;
      const problem = damage ?? findHeaderProblem(columns, this.#header.repeated);
      if (problem === undefined) this.#columns = { all: columns, distinct: omitRepeated(columns) };
      else records.push(this.#noHeader(problem, raw));
    } else if (holdsDamage(this.#damaged, raw)) {
      records.push(createUnreadableRecord(this.#line, notUtf8, raw));
    } else {
      const [{ all, distinct: columns }, line] = [this.#columns, this.#line];
      const row = { line, value: toRowValue(all, fields, this.#safe), columns, error: undefined, raw };
      if (fields.length === all.length) {
        records.push(row);
        return;
      }
      const counts = `has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'} where the header has ${all.length}`;
      const isShort = fields.length < all.length;
      const fits = isShort ? isEnded : fields.slice(all.length).every(field => field.trim() === '');
      if (!fits) records.push(createUnreadableRecord(line, counts, raw));
      else records.push(isShort ? { ...row, short: { cells: fields.length, problem: counts } } : row);
    }
  }
}

function toRowValue(
  columns: readonly string[],
  fields: readonly string[],
  safe: boolean,
): Record<string, unknown> {
  // Without a prototype, a column may have any name, even `__proto__`.
  const value: Record<string, unknown> = Object.create(null);
  for (let index = 0; index < columns.length; index += 1) {
    const name = columns[index];
    const field = fields[index] ?? '';
    if (name === undefined || name === '') continue;
    const text = safe ? unguardCell(field) : field;
    const before = value[name];
    value[name] = before === undefined || before === '' ? text : joinCells(`${before}`, text);
  }
  return value;
}

/** The columns without duplicates; columns without a name all count as different. */
function omitRepeated(columns: readonly string[]): string[] {
  const seen = new Set<string>();
  return columns.filter(name => name === '' || seen.size < seen.add(name).size);
}

const joinCells = (before: string, text: string): string => (text === '' ? before : `${before},${text}`);

/**
 * Reads CSV with a header row. The delimiter is a comma, semicolon or tab, detected in the header, or the one that a
 * first line such as `sep=;` names. Lines end with LF or CRLF, quoted fields may contain newlines, and blank lines and
 * lines of only delimiters are skipped. All values are strings. Rows may lack cells at their end (cells/short-rows.ts),
 * or have more empty ones than the header. A row that cannot be read becomes a record with an error; a header that
 * cannot be used becomes such a record, and the last one. Throws only what the source throws.
 * @param safe drops the apostrophes that `formatCsvRow` writes for spreadsheets
 */
export async function* readCsv(
  source: AsyncIterable<Uint8Array>,
  safe: boolean,
  header: HeaderOptions = {},
): AsyncGenerator<SourceRecord[]> {
  const parser = new CsvParser(safe, header);
  const filter = createShortRowFilter();
  for await (const block of omitLines(readWholeLines(source), (header.line ?? 1) - 1)) {
    const records = block.tooLong
      ? parser.skipLine(block.text)
      : parser.parse(block.text, block.damaged, false);
    yield filter(records, parser.stopped);
    if (parser.stopped) return;
  }
  yield filter(parser.parse('', false, true), true);
}
