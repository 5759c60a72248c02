/** Reads the options that a feed declares for each variant of a group: `Shoe width:narrow,size:8`. */
import { decodePlainText } from '../cells.ts';
import { normalizeColumn } from '../columns.ts';
import { areDistinct, beyondOptions, chooseOptions } from '../draft.ts';
import type { Drafting, Row } from '../preset.ts';

export interface GroupOptions {
  /** Columns whose values are all in the options. */
  readonly columns: readonly string[];
  /** Those of each row that becomes a variant, in the order of these rows. */
  readonly options: readonly Readonly<Record<string, string>>[];
}

/**
 * @param all the rows of the group, @param rows those of them that become variants
 * @returns undefined if a row lacks an option, or if the options do not distinguish all rows
 */
export function readDeclaredOptions(
  all: readonly Row[],
  rows: readonly Row[],
  { note }: Pick<Drafting, 'note'>,
): GroupOptions | undefined {
  const column = all[0]?.columns.all.find(one => normalizeColumn(one) === 'variant option');
  if (column === undefined) return undefined;
  const declared = all.map(row => parseDeclared(row.cell(column)));
  const names = [...new Set(declared.flatMap(options => Object.keys(options)))];
  if (!declared.every(options => names.every(name => name in options))) return undefined;
  const chosen = chooseOptions(declared, names);
  if (!areDistinct(declared, chosen)) return undefined;
  for (let left = chosen.length; left < names.length; left += 1) note(beyondOptions);
  return {
    columns: chosen.length === names.length ? [column] : [],
    options: rows.map(row => {
      const options = parseDeclared(row.cell(column));
      return Object.fromEntries(chosen.map(name => [name, options[name] ?? '']));
    }),
  };
}

/** A comma ends a value only if another name follows, as in `Size:8,5,Width:narrow`. */
const separator = /,(?=\s*"?[^,:"]{1,100}:)/;
const quoted = /^"(.*)"$/s;

function parseDeclared(text: string): Record<string, string> {
  const options: Record<string, string> = Object.create(null);
  for (const part of text.split(separator)) {
    const pair = part.trim().replace(quoted, '$1');
    const at = pair.indexOf(':');
    const name = decodePlainText(pair.slice(0, Math.max(0, at)).trim());
    const value = decodePlainText(
      pair
        .slice(at + 1)
        .trim()
        .replace(quoted, '$1'),
    );
    if (name !== '' && value !== '') options[`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`] = value;
  }
  return options;
}
