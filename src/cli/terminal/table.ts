/** Formats tables for a terminal. */
import { escapeUnprintable } from './printable.ts';

/** Aligns columns, two spaces apart. Cells are escaped, so that none can affect the terminal or another row. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows.map(row => row.map(escapeUnprintable))];
  const widths = header.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)));
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A time to the minute, in UTC; `-` for null. */
export function formatDate(milliseconds: number | null): string {
  return milliseconds === null ? '-' : new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ');
}
