/** The presets, and the detection of a preset by a file's header. */
import { findMissingColumns, looksLike } from './columns.ts';
import { google, meta } from './feeds/index.ts';
import { findProducts } from './json.ts';
import { magento } from './magento/index.ts';
import type { Preset, PresetName } from './preset.ts';
import { shopify } from './shopify/index.ts';
import { wix } from './wix/index.ts';
import { woocommerce } from './woocommerce/index.ts';

const presets: Readonly<Record<PresetName, Preset>> = { shopify, woocommerce, magento, wix, google, meta };

export const getPreset = (name: PresetName): Preset => presets[name];

/** The more specific presets first: each catalog of Meta also looks like a feed for Google. */
const inOrder = [shopify, woocommerce, magento, wix, meta, google];

/** Whether the name has characters that English does not use. */
const isForeign = (column: string): boolean => /[^\p{ASCII}]/u.test(column);

/** The preset for a file with these columns; undefined if they match no known shop. */
const detectPreset = (columns: readonly string[]): Preset | undefined =>
  inOrder.find(preset => looksLike(preset, columns));

/** A line for people that proposes a preset for a file with these columns; empty if they match no known shop. */
export function formatProposal(file: string, columns: readonly string[]): string {
  const preset = detectPreset(columns);
  return preset === undefined
    ? ''
    : `${file} looks like ${preset.file}: --preset ${preset.name} reads all of it`;
}

/** Like `formatProposal`, for a record of JSON. */
export function formatJsonProposal(file: string, record: Readonly<Record<string, unknown>>): string {
  for (const { name, json } of inOrder)
    if (json !== undefined && findProducts(record, json.isProduct) !== undefined)
      return `${file} looks like ${json.file}: --preset ${name} reads all of it`;
  return '';
}

/**
 * Refuses tables for Vendure: they would look complete, but only the first variant of each product would be read.
 * @throws Error with one line that says what would be lost
 */
export function refuseUnreadable(file: string, columns: readonly string[]): void {
  // A language may follow the name, as in `optionValues:de`.
  const own = ['optionGroups', 'optionValues'].map(name =>
    columns.find(column => column.replace(/:.*/, '').toLowerCase() === name.toLowerCase()),
  );
  if (!own.every(column => column !== undefined)) return;
  const drops = own.map(column => `--drop "${column}"`).join(' ');
  throw new Error(
    `${file} looks like a table of products for Vendure, in which each row without a name is a variant of the product ` +
      `above it: no preset reads it, and the variants and options would be lost. ${drops} reads only the rows with a name`,
  );
}

/** @throws Error with one line when a file with these columns does not fit the preset */
export function requireColumns(preset: Preset, columns: readonly string[], file: string): void {
  const missing = findMissingColumns(preset, columns);
  if (missing.length === 0) return;
  const names = missing.map(name => `"${name}"`).join(', ');
  const other = detectPreset(columns);
  const proposal = other === undefined ? '' : `; it looks like ${other.file}: --preset ${other.name}`;
  const isTranslated = proposal === '' && preset.translate !== undefined && columns.some(isForeign);
  const hint = isTranslated ? '; an export in another language than English needs all columns' : proposal;
  throw new Error(`${file} is not ${preset.file}: it has no column ${names}${hint}`);
}
