/** Formats the rows of an exported file, one string each, for the caller to stream. */
import { guardCell } from './spreadsheet.ts';

/** The header row, CRLF included. */
export function formatCsvHeader(fields: readonly string[]): string {
  // In a header, other delimiters are quoted too, since readers detect the delimiter there.
  return formatCsvLine(
    fields.map(name => (/[;\t]/.test(name) ? `"${name.replaceAll('"', '""')}"` : quoteCell(name))),
  );
}

/**
 * One row according to RFC 4180, including CRLF: the members of `value` named by `fields`, in that order. A missing
 * member, null and an empty string become an empty cell. An array of strings is joined with `;`, or written as JSON
 * if that could not be split again; other objects are JSON. With `safe`, cells other than numbers are guarded against
 * evaluation by spreadsheets; `unguardCell` reverses that.
 */
export function formatCsvRow(
  fields: readonly string[],
  value: Readonly<Record<string, unknown>>,
  safe = false,
): string {
  return formatCsvLine(
    fields.map(field => {
      const text = formatCell(value[field]);
      return quoteCell(safe && typeof value[field] !== 'number' ? guardCell(text) : text);
    }),
  );
}

/** One line of NDJSON, LF included. JSON escapes newlines, so a value never spans lines. */
export function formatNdjsonRow(value: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(value)}\n`;
}

function formatCsvLine(cells: readonly string[]): string {
  const line = cells.join(',');
  // A row of one empty cell would be a blank line, which readers skip.
  return line === '' ? '""\r\n' : `${line}\r\n`;
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function formatCell(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return formatArrayCell(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function formatArrayCell(items: readonly unknown[]): string {
  const splits = items.every(
    item => typeof item === 'string' && item !== '' && item === item.trim() && !/^\[|[;|]/.test(item),
  );
  return splits ? items.join(';') : JSON.stringify(items);
}
