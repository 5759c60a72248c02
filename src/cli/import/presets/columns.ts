/** Finds the columns of a shop's file by the names that its preset gives them. */
import type { Columns, Preset } from './preset.ts';

/** Removes the namespace of Google's attributes, which columns of XML feeds have as a prefix: `g:image_link`. */
export const removeNamespace = (column: string): string => column.replace(/^g:/i, '');

/** Ignores case, and treats underscores, hyphens and spaces alike: `image_link` is the same as `Image Link`. */
export const normalizeColumn = (column: string): string =>
  removeNamespace(column)
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim();

export function resolveColumns(preset: Preset, all: readonly string[]): Columns {
  const own = findColumns(preset, all, all);
  const english = isWhole(preset, own) ? all : (preset.translate?.(all) ?? all);
  const found = english === all ? own : findColumns(preset, all, english);
  const taken = new Set(found.values());
  const rest = all.filter(
    (column, index) =>
      column !== '' && !taken.has(column) && preset.takes?.test(english[index] ?? column) !== true,
  );
  const byEnglish = new Map(english.map((name, index) => [name.toLowerCase(), all[index] ?? name]));
  return { all, found, rest, english: byEnglish };
}

const isWhole = (preset: Preset, found: ReadonlyMap<string, string>): boolean =>
  preset.required.every(name => found.has(name));

/**
 * Leaves out columns without a name in the file, since nothing can be read from them: translated by their place, they
 * may have one.
 * @param english the English name of each column in `all`
 */
function findColumns(
  preset: Preset,
  all: readonly string[],
  english: readonly string[],
): Map<string, string> {
  const byName = new Map(
    english
      .map((name, index) => [normalizeColumn(name), all[index] ?? name] as const)
      .filter(([, column]) => column !== ''),
  );
  const found = new Map<string, string>();
  for (const [name, candidates] of Object.entries(preset.columns)) {
    const column = candidates
      .map(candidate => byName.get(normalizeColumn(candidate)))
      .find(one => one !== undefined);
    if (column !== undefined) found.set(name, column);
  }
  return found;
}

/** The required columns that the file lacks, by the shop's names for them. */
export function findMissingColumns(preset: Preset, all: readonly string[]): string[] {
  const { found } = resolveColumns(preset, all);
  return preset.required.filter(name => !found.has(name)).map(name => preset.columns[name]?.[0] ?? name);
}

export function looksLike(preset: Preset, all: readonly string[]): boolean {
  const { found } = resolveColumns(preset, all);
  if (!isWhole(preset, found)) return false;
  return preset.signs.some(names => names.every(name => found.has(name)));
}
