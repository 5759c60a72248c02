/** The presets, and which of them a file's header shows. */
import { findMissingColumns, looksLike } from './columns.ts';
import { google } from './feeds/google.ts';
import { meta } from './feeds/meta.ts';
import { magento } from './magento.ts';
import type { Preset, PresetName } from './preset.ts';
import { shopify } from './shopify.ts';
import { woocommerce } from './woocommerce/index.ts';

const presets: Readonly<Record<PresetName, Preset>> = { shopify, woocommerce, magento, google, meta };

export const getPreset = (name: PresetName): Preset => presets[name];

/** The more particular first: each catalog of Meta looks like a feed for Google, too. */
const inOrder = [shopify, woocommerce, magento, meta, google];

/** Has letters that English does not have. */
const isForeign = (column: string): boolean => /[^\p{ASCII}]/u.test(column);

/** The preset for a file with these columns; undefined when it is of no shop that is known. */
const detectPreset = (columns: readonly string[]): Preset | undefined =>
  inOrder.find(preset => looksLike(preset, columns));

/** Which preset reads a file with these columns, as a line for people; empty when it is of no shop that is known. */
export function formatProposal(file: string, columns: readonly string[]): string {
  const preset = detectPreset(columns);
  return preset === undefined
    ? ''
    : `${file} looks like ${preset.file}: --preset ${preset.name} reads all of it`;
}

/** @throws Error with one line when a file with these columns is something else */
export function requireColumns(preset: Preset, columns: readonly string[], file: string): void {
  const missing = findMissingColumns(preset, columns);
  if (missing.length === 0) return;
  const names = missing.map(name => `"${name}"`).join(', ');
  const other = detectPreset(columns);
  const proposal = other === undefined ? '' : `; it looks like ${other.file}: --preset ${other.name}`;
  const isTranslated = proposal === '' && preset.translate !== undefined && columns.some(isForeign);
  const hint = isTranslated
    ? '; in another language than English it is read where all columns were exported'
    : proposal;
  throw new Error(`${file} is not ${preset.file}: it has no column ${names}${hint}`);
}
