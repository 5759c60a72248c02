/** Leaves out columns of a table, or members of JSON, that the command line drops: no field is read from them. */
import type { SourceRecord } from '../../files/read.ts';
import type { ImportSource } from './source.ts';

/** @param names without regard to case; those that the file does not have are reported at its end */
export function dropColumns(source: ImportSource, names: readonly string[]): ImportSource {
  const dropped = new Map(names.map(name => [name.trim().toLowerCase(), name]));
  const missing = new Map(dropped);
  const isKept = (column: string): boolean => {
    const name = column.toLowerCase();
    missing.delete(name);
    return !dropped.has(name);
  };
  let header: readonly string[] | undefined;
  let columns: readonly string[] | undefined;
  const toRest = (record: SourceRecord): SourceRecord => {
    if (record.value === undefined) return record;
    const value = Object.fromEntries(Object.entries(record.value).filter(([name]) => isKept(name)));
    if (record.columns === undefined) return { ...record, value };
    // All rows share the list of their columns.
    if (record.columns !== header) columns = record.columns.filter(isKept);
    header = record.columns;
    return { ...record, value, ...(columns === undefined ? {} : { columns }) };
  };
  const remarks: string[] = [];
  async function* readRest(): AsyncGenerator<readonly SourceRecord[]> {
    for await (const batch of source.records) yield batch.map(toRest);
    for (const name of missing.values()) remarks.push(`--drop "${name}": no column has this name`);
  }
  return { ...source, records: readRest(), said: () => [...source.said(), ...remarks.splice(0)] };
}
