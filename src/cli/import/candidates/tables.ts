/** Reads a shop's file as a table: CSV and feeds as they are, products as JSON as the rows of an export. */
import type { SourceRecord } from '../../../files/read.ts';
import { formatJsonProposal } from '../presets/index.ts';
import { findProducts } from '../presets/json.ts';
import type { JsonProducts, Preset } from '../presets/preset.ts';
import type { ImportSource } from '../source.ts';

/** @throws Error with one line when the preset does not read the file's format */
export function readTable(
  source: ImportSource,
  preset: Preset,
  fileName: string,
): AsyncGenerator<readonly SourceRecord[]> {
  if (source.format === 'csv' || source.format === 'xml') return source.records;
  if (preset.json !== undefined) return readRows(source, preset.json, fileName);
  throw new Error(`${fileName} is ${source.format.toUpperCase()}; ${preset.file} is a table: CSV or TSV`);
}

/**
 * Each row has the columns of all rows so far. Only the first row of a record has its text, which the others share.
 * @throws Error with one line when the file has other records and no products
 */
async function* readRows(
  source: ImportSource,
  products: JsonProducts,
  fileName: string,
): AsyncGenerator<readonly SourceRecord[]> {
  const known = new Set<string>();
  let columns: readonly string[] = [];
  let hasProducts = false;
  let other: SourceRecord | undefined;
  const toRow = (record: SourceRecord, value: Record<string, string>, index: number): SourceRecord => {
    const added = Object.keys(value).filter(name => !known.has(name));
    for (const name of added) known.add(name);
    if (added.length > 0) columns = [...columns, ...added];
    return { ...record, value, columns, raw: index === 0 ? record.raw : '' };
  };
  for await (const batch of source.records) {
    const rows: SourceRecord[] = [];
    for (const record of batch) {
      const found = record.value === undefined ? [] : findProducts(record.value, products.isProduct);
      hasProducts ||= found !== undefined && found.length > 0;
      if (found === undefined || record.error?.startsWith('has no array ') === true) other ??= record;
      if (record.value === undefined) rows.push(record);
      else if (found === undefined)
        rows.push({ ...record, value: undefined, error: `is none of ${products.file}` });
      else
        for (const [index, cells] of found.flatMap(product => products.toRows(product)).entries())
          rows.push(toRow(record, { ...cells }, index));
    }
    yield rows;
  }
  if (other === undefined || hasProducts) return;
  const proposal = formatJsonProposal(fileName, other.value ?? {});
  throw new Error(proposal || `${fileName} is not ${products.file}, which are ${products.accepted}`);
}
