/** Reads the options that a feed declares for each variant of a group: `Shoe width:narrow,size:8`. */
import { hasAtMost } from '../../../../http/schema.ts';
import { maxOptionLengths } from '../../../../resources/products/members/options.ts';
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
 * @returns undefined if a row lacks an option, if one is too long for a product, or if the options do not distinguish
 *   all rows
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
  if (!declared.every(options => names.every(name => fits(name, options[name])))) return undefined;
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

const fits = (name: string, value: string | undefined): boolean =>
  value !== undefined && hasAtMost(name, maxOptionLengths.name) && hasAtMost(value, maxOptionLengths.value);

/** A quoted pair or value, which may hold separators. A quote elsewhere, as in `12" wide`, means inches. */
const quotedPart = /(?<=(?:^|[,:])\s*)"[^"]*"(?=\s*(?:,|$))/;
/** A comma ends a value only if another name follows, as in `Size:8,5,Width:narrow`. */
const separator = /,(?=\s*"?[^,:"]{1,100}:)/;
const quotedOrSeparator = new RegExp(`${quotedPart.source}|${separator.source}`, 'g');
const quoted = /^"(.*)"$/s;

function splitPairs(text: string): string[] {
  const matches = [...text.matchAll(quotedOrSeparator)];
  const ends = matches.filter(([found]) => found === ',').map(({ index }) => index);
  return [...ends, text.length].map((end, at) => text.slice(at === 0 ? 0 : (ends[at - 1] ?? 0) + 1, end));
}

function parseDeclared(text: string): Record<string, string> {
  const options: Record<string, string> = Object.create(null);
  for (const part of splitPairs(text)) {
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
