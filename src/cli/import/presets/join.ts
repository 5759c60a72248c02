/**
 * Joins the rows of a shop's file to products, wherever they are in the file. The file is read twice: the first pass
 * keeps only the names of rows and the number of rows of each product. The second pass holds rows until all rows of
 * their product have been read (docs/decisions/0033).
 */
import type { SourceRecord } from '../../../files/read.ts';
import { resolveColumns } from './columns.ts';
import { type Columns, type Preset, type Row, type RowPlacement, RowProblem } from './preset.ts';

/** The rows of one product, in file order, or a row that belongs to no product. */
export type Joined =
  | { readonly rows: readonly Row[] }
  | { readonly record: SourceRecord; readonly problem: string };

/** The most text, in characters, of rows that are held for other rows of their product. */
const maxHeld = 256 * 1024 * 1024;

interface Group {
  /** Whether a row introduces the product. */
  known: boolean;
  rows: number;
  held: { readonly record: SourceRecord; readonly row: Row }[];
  /** What the first row lacks, if no row introduces the product. */
  lacks?: string;
}

export const shortRow = 'rows have fewer cells than the header: the others were read as empty';

export const repeatedRow =
  'rows that repeat a sku were left out: the last counts, or the product with variants';

/** The text of all rows of a product, for a file of rejected records. */
export const joinRaw = (rows: readonly Pick<Row, 'raw'>[]): string =>
  rows
    .map(({ raw }) => raw)
    .filter(raw => raw !== '')
    .join('\n');

/** @param note counts rows that are not imported, by reason, and rows that lack cells */
export function createRowJoiner(preset: Preset, file: string, note: (text: string) => void) {
  const read = createRowReader(preset);
  const groups = new Map<string, Group>();
  /** The product for each of its other names, for names that it claims as variants, and for products it absorbs. */
  const also = new Map<string, string>();
  const claims = new Map<string, string>();
  const absorbed = new Map<string, string>();
  const waiting = new Map<string, number>();
  /** Standalone products with repeated rows → how many rows still come before the one that counts. */
  const repeats = new Map<string, number>();
  let surveyed = false;
  let held = 0;

  function ensureGroup(key: string): Group {
    const group = groups.get(key) ?? { known: false, rows: 0, held: [] };
    groups.set(key, group);
    return group;
  }
  function count(placement: RowPlacement): void {
    if ('product' in placement) {
      const group = ensureGroup(placement.product);
      group.known = true;
      group.rows += 1;
      for (const name of placement.also ?? []) also.set(name, placement.product);
      if (placement.absorbs !== undefined) absorbed.set(placement.absorbs, placement.product);
      for (const name of placement.variants ?? []) if (!claims.has(name)) claims.set(name, placement.product);
    } else if ('variantOf' in placement || 'named' in placement) {
      const name = 'named' in placement ? `named:${placement.named}` : `of:${placement.variantOf}`;
      waiting.set(name, (waiting.get(name) ?? 0) + 1);
    }
  }
  /** Called after the first pass: assigns rows to the product that they name, or that names them. */
  function settle(): void {
    surveyed = true;
    for (const [name, product] of absorbed) {
      ensureGroup(product).rows += groups.get(name)?.rows ?? 0;
      groups.delete(name);
    }
    for (const [name, rows] of waiting) {
      const key = findKey(name);
      const own = name.slice('named:'.length);
      if (key !== undefined) ensureGroup(key).rows += rows;
      else if (groups.has(own)) repeats.set(own, rows);
      else if (rows > 1) repeats.set(own, rows - 1);
    }
    waiting.clear();
  }
  function findKey(name: string): string | undefined {
    if (name.startsWith('named:')) return claims.get(name.slice('named:'.length));
    const product = name.slice('of:'.length);
    return groups.has(product) ? product : (also.get(product) ?? product);
  }
  function isRepeated(name: string): boolean {
    const left = repeats.get(name) ?? 0;
    if (left > 0) repeats.set(name, left - 1);
    return left > 0;
  }
  function hold(key: string, record: SourceRecord, row: Row, lacks?: string): Joined | undefined {
    const group = ensureGroup(key);
    if (lacks !== undefined) group.lacks ??= lacks;
    if (group.rows <= 1 && group.known) return { rows: [row] };
    group.held.push({ record, row });
    held += record.raw.length;
    if (held > maxHeld) throw new Error(`${file} has rows of one product too far apart: sort it by product`);
    if (group.held.length < group.rows) return undefined;
    return release(key, group);
  }
  function release(key: string, group: Group): Joined {
    groups.delete(key);
    for (const { record } of group.held) held -= record.raw.length;
    const [first] = group.held;
    if (first === undefined) throw new Error('a group without rows');
    if (group.known) return { rows: group.held.map(({ row }) => row) };
    const many = group.held.length === 1 ? '' : ` (${group.held.length} rows)`;
    const problem = group.lacks ?? `belongs to the product "${key}", which the file does not have`;
    const raw = joinRaw(group.held.map(({ row }) => row));
    return { record: { ...first.record, raw }, problem: `${problem}${many}` };
  }

  return {
    /** The first pass: must be called with each record. */
    survey(record: SourceRecord): void {
      if (record.value === undefined) return;
      try {
        count(preset.place(read(record)));
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error;
      }
    },
    /** The second pass: returns the product or problem that a record completes. */
    take(record: SourceRecord): Joined | undefined {
      if (!surveyed) settle();
      if (record.short !== undefined) note(shortRow);
      if (record.value === undefined) return { record, problem: record.error ?? 'cannot be read' };
      const row = read(record);
      try {
        const place = preset.place(row);
        if ('leftOut' in place) {
          note(place.leftOut);
          return undefined;
        }
        if ('alone' in place) return { rows: [row] };
        if ('product' in place) return hold(absorbed.get(place.product) ?? place.product, record, row);
        const key = findKey('named' in place ? `named:${place.named}` : `of:${place.variantOf}`);
        if (key !== undefined) return hold(key, record, row, 'lacks' in place ? place.lacks : undefined);
        if ('variantOf' in place || !isRepeated(place.named)) return { rows: [row] };
        note(repeatedRow);
        return undefined;
      } catch (error) {
        if (error instanceof RowProblem) return { record, problem: error.message };
        throw error;
      }
    },
    /** The groups left at the end: none, unless the file has changed between the passes. */
    rest(): Joined[] {
      const left = [...groups].filter(([, { held }]) => held.length > 0);
      return left.map(([key, group]) => release(key, group));
    },
  };
}

/** Converts records to rows with the preset's names; the columns are resolved once for each header. */
function createRowReader(preset: Preset): (record: SourceRecord) => Row {
  let header: readonly string[] | undefined;
  let columns: Columns | undefined;
  return record => {
    if (columns === undefined || record.columns !== header) {
      header = record.columns;
      columns = resolveColumns(preset, header ?? Object.keys(record.value ?? {}));
    }
    return toRow(record, columns, preset);
  };
}

function toRow({ line, raw, value = {} }: SourceRecord, columns: Columns, { isEmpty }: Preset): Row {
  const getCell = (column: string): string => {
    const found = value[column];
    const text = typeof found === 'string' ? found.trim() : '';
    return isEmpty?.(column, text) === true ? '' : text;
  };
  return {
    line,
    raw,
    columns,
    value,
    cell: getCell,
    text(name) {
      const column = columns.found.get(name);
      return column === undefined ? '' : getCell(column);
    },
  };
}
