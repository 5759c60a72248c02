/** Finds the columns of a feed that are options of a group, and reads their values. */
import { splitList } from '../../../../files/cells/list.ts';
import { decodePlainText } from '../cells.ts';
import { normalizeColumn } from '../columns.ts';
import { areDistinct, beyondOptions, chooseOptions, isDistinguishing } from '../draft.ts';
import type { Drafting, Row } from '../preset.ts';
import { type GroupOptions, readDeclaredOptions } from './declared.ts';

/** Columns in which the variants of a group may differ. */
const optionColumns = [
  'color',
  'colour',
  'size',
  'material',
  'pattern',
  'gender',
  'age group',
  'size type',
  'size system',
];

const isOptionColumn = (column: string): boolean => optionColumns.includes(normalizeColumn(column));

/** Columns that are options even if all rows of a group have the same value: a later feed may have others. */
const usualColumns = ['color', 'colour', 'size'];

/** Meta's column for attributes that have no column: `Scent:Rose,Flavor:Mint`. */
const findFurtherColumn = (row: Row): string | undefined =>
  row.columns.all.find(column => normalizeColumn(column) === 'additional variant attribute');

/** The further attributes of a row, by normalized names: one row may have `Scent`, another `scent`. */
interface Further {
  readonly pairs: Readonly<Record<string, string>>;
  /** Whether the column has nothing else. */
  readonly isWhole: boolean;
}

function parseFurther(row: Row): Further {
  const column = findFurtherColumn(row);
  const parts = column === undefined ? [] : splitList(row.cell(column), ',');
  const pairs: Record<string, string> = Object.create(null);
  for (const part of parts) {
    const at = part.indexOf(':');
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at > 0 && name !== '' && value !== '') pairs[normalizeColumn(name)] = value;
  }
  return { pairs, isWhole: Object.keys(pairs).length === parts.length };
}

/** The cells of rows, by column or by the name of a further attribute. Each row is parsed once. */
function createCellReader() {
  const parsed = new Map<Row, Further>();
  const getFurther = (row: Row): Further => parsed.getOrInsertComputed(row, parseFurther);
  return {
    getFurther,
    get: (row: Row, column: string): string =>
      isOptionColumn(column) && row.columns.all.includes(column)
        ? row.cell(column)
        : (getFurther(row).pairs[column] ?? ''),
  };
}

type CellReader = ReturnType<typeof createCellReader>;

/** The columns that may be options, and the names of further attributes in the rows. */
function findColumns(rows: readonly Row[], { getFurther }: CellReader): string[] {
  const all = rows[0]?.columns.all ?? [];
  const columns = all.filter(isOptionColumn);
  const known = new Set(columns.map(normalizeColumn));
  const names = rows.flatMap(row => Object.keys(getFurther(row).pairs));
  return [...columns, ...new Set(names.filter(name => !known.has(name)))];
}

/** Whether `names` cover all of a row's further attributes. */
const isTaken = ({ pairs, isWhole }: Further, names: readonly string[]): boolean =>
  isWhole && Object.keys(pairs).every(name => names.includes(name));

/** The option for rows that no column distinguishes; its value is the id. */
const item = 'Item';

/** The value of an option where the cell is empty. */
const nothing = 'None';

const partial = 'columns with values for only some variants were kept as attributes of their product';

/**
 * @param all the rows of the group, @param rows those of them that become variants
 * @returns as many options as a product may have; the columns of the others can become attributes
 */
export function readGroupOptions(
  all: readonly Row[],
  rows: readonly Row[],
  { dropUnknown, note }: Pick<Drafting, 'dropUnknown' | 'note'>,
): GroupOptions {
  const declared = readDeclaredOptions(all, rows, { note });
  if (declared !== undefined) return declared;
  const reader = createCellReader();
  const differing = findOptionColumns(all, reader);
  const cells = rows.map(row => readCells(row, differing, nothing, reader));
  const isWhole = areDistinct(cells, differing);
  const ids = rows.map((row, index): Record<string, string> => ({ ...cells[index], [item]: row.text('id') }));
  const names = chooseOptions(ids, isWhole ? differing : [...differing, item]);
  const columns = names.filter(name => name !== item);
  const further =
    rows[0] !== undefined &&
    rows.every(row => isTaken(reader.getFurther(row), names)) &&
    findFurtherColumn(rows[0]);
  const possible = new Set(differing);
  for (const column of dropUnknown ? [] : findColumns(all, reader)) {
    const isOption = possible.has(column);
    if (isOption && !columns.includes(column)) note(beyondOptions);
    if (!isOption && countValues(rows, column, reader) > 1) note(partial);
  }
  const options = ids.map(options =>
    Object.fromEntries(names.map(name => [capitalizeColumn(name), options[name] ?? nothing])),
  );
  return { columns: further ? [...columns, further] : columns, options };
}

/**
 * The columns that all rows fill, if the rows differ in them or they are usually options. If these do not distinguish
 * all rows, also columns with empty cells that help to. For a single row, all columns that it fills.
 */
function findOptionColumns(rows: readonly Row[], reader: CellReader): string[] {
  const columns = findColumns(rows, reader);
  const cells = rows.map(row => readCells(row, columns, '', reader));
  const isFilled = (column: string): boolean => rows.every(row => reader.get(row, column) !== '');
  const chosen = columns.filter(
    column =>
      isFilled(column) &&
      (rows.length === 1 ||
        usualColumns.includes(normalizeColumn(column)) ||
        countValues(rows, column, reader) > 1),
  );
  let isWhole = rows.length === 1 || areDistinct(cells, chosen);
  for (const column of columns) {
    if (isWhole) break;
    if (isFilled(column) || !isDistinguishing(cells, chosen, column)) continue;
    chosen.push(column);
    isWhole = areDistinct(cells, chosen);
  }
  const all = new Set(chosen);
  return columns.filter(column => all.has(column));
}

const readCells = (
  row: Row,
  columns: readonly string[],
  empty: string,
  { get }: CellReader,
): Record<string, string> =>
  Object.fromEntries(columns.map(column => [column, decodePlainText(get(row, column)) || empty]));

/** The number of distinct values in a column, without empty cells. */
const countValues = (rows: readonly Row[], column: string, { get }: CellReader): number =>
  new Set(rows.map(row => get(row, column)).filter(text => text !== '')).size;

function capitalizeColumn(column: string): string {
  const words = normalizeColumn(column);
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
