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

/** Columns that are options even if all rows of a group have the same value: a later feed may have others. */
const usualColumns = ['color', 'colour', 'size'];

/** The columns that may be options, and the names of further attributes in the rows. */
function findColumns(rows: readonly Row[]): string[] {
  const all = rows[0]?.columns.all ?? [];
  const columns = all.filter(column => optionColumns.includes(normalizeColumn(column)));
  const known = new Set(columns.map(normalizeColumn));
  const further = rows.flatMap(row => Object.keys(parseFurther(row)));
  return [...columns, ...new Set(further.filter(name => !known.has(normalizeColumn(name))))];
}

/** Meta's column for attributes that have no column: `Scent:Rose,Flavor:Mint`. */
const findFurtherColumn = (row: Row): string | undefined =>
  row.columns.all.find(column => normalizeColumn(column) === 'additional variant attribute');

function parseFurther(row: Row): Record<string, string> {
  const pairs: Record<string, string> = Object.create(null);
  for (const part of splitFurther(row)) {
    const at = part.indexOf(':');
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at > 0 && name !== '' && value !== '') pairs[name] = value;
  }
  return pairs;
}

function splitFurther(row: Row): string[] {
  const column = findFurtherColumn(row);
  return column === undefined ? [] : splitList(row.cell(column), ',');
}

/** Whether `names` cover all of a row's further attributes. */
function isTaken(row: Row, names: readonly string[]): boolean {
  const own = Object.keys(parseFurther(row));
  return own.length === splitFurther(row).length && own.every(name => names.includes(name));
}

const getCell = (row: Row, column: string): string =>
  row.columns.all.includes(column) ? row.cell(column) : (parseFurther(row)[column] ?? '');

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
  const differing = findOptionColumns(all);
  const cells = rows.map(row => readCells(row, differing, nothing));
  const isWhole = areDistinct(cells, differing);
  const ids = rows.map((row, index): Record<string, string> => ({ ...cells[index], [item]: row.text('id') }));
  const names = chooseOptions(ids, isWhole ? differing : [...differing, item]);
  const columns = names.filter(name => name !== item);
  const further =
    rows[0] !== undefined && rows.every(row => isTaken(row, names)) && findFurtherColumn(rows[0]);
  for (const column of dropUnknown ? [] : findColumns(all)) {
    const isOption = differing.includes(column);
    if (isOption && !columns.includes(column)) note(beyondOptions);
    if (!isOption && countValues(rows, column) > 1) note(partial);
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
function findOptionColumns(rows: readonly Row[]): string[] {
  const columns = findColumns(rows);
  const cells = rows.map(row => readCells(row, columns, ''));
  const isFilled = (column: string): boolean => rows.every(row => getCell(row, column) !== '');
  const chosen = columns.filter(
    column =>
      isFilled(column) &&
      (rows.length === 1 || usualColumns.includes(normalizeColumn(column)) || countValues(rows, column) > 1),
  );
  for (const column of columns) {
    if (rows.length === 1 || areDistinct(cells, chosen)) break;
    if (!isFilled(column) && isDistinguishing(cells, chosen, column)) chosen.push(column);
  }
  return columns.filter(column => chosen.includes(column));
}

const readCells = (row: Row, columns: readonly string[], empty: string): Record<string, string> =>
  Object.fromEntries(columns.map(column => [column, decodePlainText(getCell(row, column)) || empty]));

/** The number of distinct values in a column, without empty cells. */
const countValues = (rows: readonly Row[], column: string): number =>
  new Set(rows.map(row => getCell(row, column)).filter(text => text !== '')).size;

function capitalizeColumn(column: string): string {
  const words = normalizeColumn(column);
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
