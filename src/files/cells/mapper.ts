/** Converts records of a file to the fields of a product. */

import { isObject } from '../../json-object.ts';
import {
  AmountIn,
  type CellOptions,
  findListField,
  findReader,
  memberNames,
  type Reader,
  toAttributeName,
  Unreadable,
  withoutCurrency,
} from './fields.ts';
import { listPrefixes, type Mapping, MappingError, pickMember, productFields } from './map.ts';
import { amountFields, createAmountReader } from './price-columns.ts';
import { parseBoolean, TypedValue } from './typed.ts';

export interface MapOptions {
  readonly mapping: Mapping;
  /** Values that all records get, whatever the file says, in the form of a cell. */
  readonly set?: Mapping;
  readonly cells?: CellOptions;
  /** Restricts the result to these fields, or if true to those of `mapping`. */
  readonly only?: readonly string[] | true;
}

interface Source {
  readonly field: string;
  readonly column: string;
  readonly read: Reader;
}

export type Mapper = ReturnType<typeof createRecordMapper>;

export function createRecordMapper({ mapping, set = new Map(), cells = {}, only }: MapOptions) {
  const all =
    only === undefined
      ? [...productFields, ...memberNames, ...mapping.keys()]
      : only === true
        ? mapping.keys()
        : only;
  const named = [...new Set(all)].map(field => ({
    field,
    column: mapping.get(field) ?? field,
    read: requireReader(field, mapping),
  }));
  const constants = [...set].map(([field, text]) => ({ field, text, read: requireReader(field, new Map()) }));
  const tables = new Map<readonly string[], readonly Source[]>();

  function getSources(columns: readonly string[]): readonly Source[] {
    const known = tables.get(columns);
    if (known !== undefined) return known;
    const rest = only === undefined ? findAttributeColumns(columns, mapping) : [];
    const sources = [...findColumns(columns, named, mapping), ...rest];
    tables.clear();
    tables.set(columns, sources);
    return sources;
  }
  function put(
    mapped: Record<string, unknown>,
    { field, read }: Omit<Source, 'column'>,
    value: unknown,
  ): void {
    if (value === undefined || value === null || value === '') return;
    const converted = read(value, cells);
    if (converted !== undefined) place(mapped, field, converted);
  }
  return {
    /**
     * Reads each field from its mapped column, or without one from the column of the same name. A column is found by
     * its exact name, or ignoring case, or as a dotted path into objects (`dimensions.width`). A field whose column is
     * missing, null or an empty string is absent from the result, as is a cell of spaces. A value that cannot be
     * converted stays as it is, or as `Unreadable`, so that validation reports it. `attributesByKey` is set if the
     * attributes come from separate columns (`attributes.colour`): attributes under other keys are then left alone.
     * Where the defined type of an attribute changes its value, `attributesAsTheyLook` has the value without the type.
     * @param columns the columns of a table, the same array for all its records, so that they are resolved only once
     */
    map(record: Readonly<Record<string, unknown>>, columns?: readonly string[]): Record<string, unknown> {
      const mapped: Record<string, unknown> = {};
      if (columns !== undefined) {
        for (const source of getSources(columns)) {
          const value = record[source.column];
          if (!isPadding(value) || mayBeBlank.test(source.field)) put(mapped, source, value);
        }
      } else {
        for (const source of named) put(mapped, source, pickMember(record, source.column));
        const rest = only === undefined ? findAttributeColumns(Object.keys(record), mapping) : [];
        for (const source of rest) put(mapped, source, record[source.column]);
      }
      // Read again for each record, since records modify these values, and copies of amounts would lose their class.
      for (const { field, text, read } of constants) place(mapped, field, toTyped(read(text, cells)));
      completeWeight(mapped, cells, only === true);
      return removeCurrencies(mapped);
    },
    /** The columns of a table that no field is read from; those without a name are given by number. */
    unused(columns: readonly string[]): string[] {
      const used = new Set(getSources(columns).map(({ column }) => column));
      return [...columns.filter(column => column !== '' && !used.has(column)), ...nameUnnamed(columns)];
    },
    /** The members of JSON objects that no field is read from, also none of their own members. */
    unusedMembers(names: readonly string[]): string[] {
      const used = new Set(named.flatMap(({ column }) => listPrefixes(column.toLowerCase())));
      return names.filter(name => !used.has(name.toLowerCase()) && toAttributeName(name) === undefined);
    },
  };
}

/** The fields that spaces are a value of. */
const mayBeBlank = /^(?:description|attributes)(?:\.|$)/;

/** Whether a cell has only spaces, with which other programs fill columns of a fixed width. */
const isPadding = (value: unknown): boolean =>
  typeof value === 'string' && value.startsWith(' ') && value.trim() === '';

/** Names, for messages, of columns without a name, which nothing can be read from. */
export const nameUnnamed = (columns: readonly string[]): string[] =>
  columns.flatMap((column, index) => (column === '' ? [`column ${index + 1} (without a name)`] : []));

function requireReader(field: string, mapping: Mapping): Reader {
  const column = mapping.get(field);
  const read = findReader(field);
  if (read === undefined) throw new MappingError(`there is no field "${field}"`);
  if (field === 'status' && column !== undefined)
    return (value, cells) => read(toStatus(value, column), cells);
  const isAmount = column !== undefined && amountFields.some(name => name === field);
  return isAmount ? createAmountReader(column, read) : read;
}

/** Finds the columns of fields in a table: by exact name, or ignoring case, or if not mapped, also `_`, `-`, spaces. */
function findColumns(columns: readonly string[], named: readonly Source[], mapping: Mapping): Source[] {
  const toBareName = (name: string) => name.toLowerCase().replace(/[ _-]/g, '');
  return named.flatMap(({ field, column, read }) => {
    const lower = column.toLowerCase();
    const found =
      columns.find(name => name === column) ??
      columns.find(name => name.toLowerCase() === lower) ??
      (mapping.has(field) ? undefined : columns.find(name => toBareName(name) === toBareName(column)));
    return found === undefined ? [] : [{ field, column: found, read }];
  });
}

function findAttributeColumns(columns: readonly string[], mapping: Mapping): Source[] {
  const sources: Source[] = [];
  for (const column of columns) {
    const field = toAttributeName(column);
    if (field === undefined || mapping.has(field)) continue;
    sources.push({ field, column, read: requireReader(field, mapping) });
  }
  return sources;
}

/** Why the columns of attributes cannot be read: two of them have one key, so that one value would replace the other. */
export function findRepeatedAttribute(columns: readonly string[], mapping: Mapping): string | undefined {
  const seen = new Map<string, string>();
  for (const { field, column } of findAttributeColumns(columns, mapping)) {
    const other = seen.get(field);
    if (other !== undefined) return `"${other}" and "${column}" are both ${field}; rename one of them`;
    seen.set(field, column);
  }
  return undefined;
}

/** Stores a value under its field; `stock.onHand` and `attributes.colour` go into their objects, `images#2` into its list. */
function place(mapped: Record<string, unknown>, field: string, value: unknown): void {
  const list = findListField(field);
  if (list !== undefined) {
    const before = mapped[list] ?? [];
    // What is not a list is refused later, with its reason.
    if (Array.isArray(before)) mapped[list] = Array.isArray(value) ? [...before, ...value] : value;
    return;
  }
  const dot = field.indexOf('.');
  if (dot < 0) {
    mapped[field] = value;
    if (field !== 'attributes') return;
    delete mapped.attributesByKey;
    delete mapped.attributesAsTheyLook;
    return;
  }
  const [name, key] = [field.slice(0, dot), field.slice(dot + 1)];
  if (name === 'attributes' && !isObject(mapped.attributes)) mapped.attributesByKey = true;
  const { attributesAsTheyLook: asTheyLook } = mapped;
  if (value instanceof TypedValue) {
    putMember(mapped, name, key, value.value);
    putMember(mapped, 'attributesAsTheyLook', key, value.plain);
  } else {
    putMember(mapped, name, key, value);
    if (name === 'attributes' && isObject(asTheyLook)) delete asTheyLook[key];
  }
}

/** For values of the command line, which no export has written: only their type counts. */
const toTyped = (value: unknown): unknown => (value instanceof TypedValue ? value.value : value);

function putMember(mapped: Record<string, unknown>, name: string, key: string, value: unknown): void {
  const members = mapped[name];
  if (isObject(members)) members[key] = value;
  else mapped[name] = { [key]: value };
}

/**
 * Files have columns of units, even beside empty weights, or weights without a unit.
 * @param isPart whether a preset reads the rest of a weight
 */
function completeWeight(mapped: Record<string, unknown>, { weightUnit }: CellOptions, isPart: boolean): void {
  const { weight } = mapped;
  if (!isObject(weight) || weight instanceof Unreadable) return;
  if (weight.value !== undefined) weight.unit ??= weightUnit;
  else if (!isPart) delete mapped.weight;
}

/** Replaces amounts by numbers, and uses the currency beside them for the product, unless it has another one. */
function removeCurrencies(mapped: Record<string, unknown>): Record<string, unknown> {
  const { price, compareAtPrice, basePrice, stock, weight, variants } = mapped;
  if (price instanceof AmountIn) mapped.price = removeCurrency(mapped, price);
  if (basePrice instanceof AmountIn) mapped.basePrice = removeCurrency(mapped, basePrice);
  if (compareAtPrice instanceof AmountIn) mapped.compareAtPrice = removeCurrency(mapped, compareAtPrice);
  if (isObject(stock)) refuseAmount(stock, 'onHand');
  if (isObject(weight)) refuseAmount(weight, 'value');
  if (!Array.isArray(variants)) return mapped;
  for (const variant of variants) {
    if (!isObject(variant)) continue;
    if (variant.price instanceof AmountIn) variant.price = removeCurrency(mapped, variant.price);
    if (variant.compareAtPrice instanceof AmountIn)
      variant.compareAtPrice = removeCurrency(mapped, variant.compareAtPrice);
  }
  return mapped;
}

function removeCurrency(mapped: Record<string, unknown>, amount: AmountIn): unknown {
  mapped.currency ??= amount.currency;
  if (amount.choices.some(one => one === mapped.currency)) return amount.value;
  const problem = `is in ${amount.currency}, but the currency is ${String(mapped.currency)}`;
  return new Unreadable(problem, amount.value);
}

function refuseAmount(members: Record<string, unknown>, name: string): void {
  const value = members[name];
  if (value instanceof AmountIn) members[name] = new Unreadable(withoutCurrency, value.value);
}

const archivedColumn = /^(?:is[ _-]?)?(?:archived|discontinued)$/i;
const activeColumn =
  /^(?:is[ _-]?)?(?:active|enabled|published|visible|online|aktiv|actif|activo|attivo|actief)$/i;

/**
 * Converts a mapped `status`. If the column is called archived or discontinued (`Discontinued`, `is_archived`,
 * `isDiscontinued`), a boolean (true, yes, 1) means `archived` or `active`; in a column called active, enabled and the
 * like (`Active (0/1)`, `Aktiv`) the reverse. Any other value, or one from any other column, is read as in a status
 * column.
 */
function toStatus(value: unknown, column: string): unknown {
  const [name = ''] = column.slice(column.lastIndexOf('.') + 1).split('(');
  const isArchived = archivedColumn.test(name.trim());
  if (!isArchived && !activeColumn.test(name.trim())) return value;
  const flag = parseBoolean(typeof value === 'number' ? String(value) : value);
  if (typeof flag !== 'boolean') return value;
  return flag === isArchived ? 'archived' : 'active';
}
