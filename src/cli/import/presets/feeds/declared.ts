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
 * @param all the rows of the group, @param rows those of them, the same objects, that become variants
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
  const declared = new Map(all.map(row => [row, parseDeclared(row.cell(column))]));
  const ofAll = [...declared.values()];
  const names = [...new Set(ofAll.flatMap(options => Object.keys(options)))];
  if (!ofAll.every(options => names.every(name => fits(name, options[name])))) return undefined;
  const chosen = chooseOptions(ofAll, names);
  if (!areDistinct(ofAll, chosen)) return undefined;
  for (let left = chosen.length; left < names.length; left += 1) note(beyondOptions);
  return {
    columns: chosen.length === names.length ? [column] : [],
    options: rows.map(row => Object.fromEntries(chosen.map(name => [name, declared.get(row)?.[name] ?? '']))),
  };
}

const fits = (name: string, value: string | undefined): boolean =>
  value !== undefined && hasAtMost(name, maxOptionLengths.name) && hasAtMost(value, maxOptionLengths.value);

const quoted = /^"(.*)"$/s;

/** The beginning of a pair, in the first characters after a comma. */
const pairStart = /^ {0,9}"?[^,:"]{1,100}:/;
const maxPairStart = 112;

/**
 * Splits at commas that another name follows, unlike that of `Size:8,5,Width:narrow`. A quoted pair or value may hold
 * such commas; a quote elsewhere, as in `12" wide`, means inches.
 */
function splitPairs(text: string): string[] {
  const pairs: string[] = [];
  let [start, mayQuote] = [0, true];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    const closing = sign === '"' && mayQuote ? text.indexOf('"', at + 1) : -1;
    if (closing >= 0 && isPartEnd(text, closing + 1)) at = closing;
    else if (sign === ',' && pairStart.test(text.slice(at + 1, at + 1 + maxPairStart))) {
      pairs.push(text.slice(start, at));
      start = at + 1;
    }
    if (sign !== ' ') mayQuote = sign === ',' || sign === ':';
  }
  return [...pairs, text.slice(start)];
}

/** Whether only spaces come before the next comma, or the end. */
function isPartEnd(text: string, from: number): boolean {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at === text.length || text[at] === ',';
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
