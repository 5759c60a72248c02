/** From a record of a file to the fields of a product. */

import { isObject } from '../../json-object.ts';
import {
  AmountIn,
  type CellOptions,
  findReader,
  memberNames,
  type Reader,
  toAttributeName,
  Unreadable,
  withoutCurrency,
} from './fields.ts';
import { type Mapping, MappingError, pickMember, productFields } from './map.ts';
import { TypedValue } from './typed.ts';

export interface MapOptions {
  readonly mapping: Mapping;
  /** Values that all records get, whatever the file says: as they would stand in a cell. */
  readonly set?: Mapping;
  readonly cells?: CellOptions;
  /** These fields only, or those of `mapping` only. */
  readonly only?: readonly string[] | true;
}

/** What is read, from where, and how. */
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
    place(mapped, field, read(value, cells));
  }
  return {
    /**
     * Picks each field from its mapped column, or without one from the column of the same name. A column is found by
     * its exact name, else by its name in another case, else as a dotted path into objects (`dimensions.width`). A
     * field whose column is missing, null or an empty string is absent from the result. What cannot be converted stays
     * as it is, or as `Unreadable`, so that validation names it. `attributesByKey` says that the attributes come from
     * columns of their own (`attributes.colour`): what a product has under other keys is not theirs to change. Those of
     * them that their type makes others than they look like are in `attributesAsTheyLook`, as they look.
     * @param columns of a table, the same array for all its records: where they are is then found out once
     */
    map(record: Readonly<Record<string, unknown>>, columns?: readonly string[]): Record<string, unknown> {
      const mapped: Record<string, unknown> = {};
      if (columns !== undefined) {
        for (const source of getSources(columns)) put(mapped, source, record[source.column]);
      } else {
        for (const source of named) put(mapped, source, pickMember(record, source.column));
        const rest = only === undefined ? findAttributeColumns(Object.keys(record), mapping) : [];
        for (const source of rest) put(mapped, source, record[source.column]);
      }
      // Read again for each record, which changes what it gets: copies of amounts would be none any more.
      for (const { field, text, read } of constants) place(mapped, field, toTyped(read(text, cells)));
      return removeCurrencies(mapped);
    },
    /** The columns of a table that no field is taken from, those without a name by their number. */
    unused(columns: readonly string[]): string[] {
      const used = new Set(getSources(columns).map(({ column }) => column));
      return [...columns.filter(column => column !== '' && !used.has(column)), ...nameUnnamed(columns)];
    },
  };
}

/** What columns without a name, which nothing can be taken from, are called in messages. */
export const nameUnnamed = (columns: readonly string[]): string[] =>
  columns.flatMap((column, index) => (column === '' ? [`column ${index + 1} (without a name)`] : []));

function requireReader(field: string, mapping: Mapping): Reader {
  const column = mapping.get(field);
  const read = findReader(field);
  if (read === undefined) throw new MappingError(`there is no field "${field}"`);
  if (field === 'status' && column !== undefined)
    return (value, cells) => read(toStatus(value, column), cells);
  return read;
}

/** Columns of a table by the names of fields: exactly, else in another case or with `_` and spaces in between. */
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

/** Puts a value in its place, `stock.onHand` and `attributes.colour` into their objects. */
function place(mapped: Record<string, unknown>, field: string, value: unknown): void {
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

/** No export has made a cell of it: its type decides. */
const toTyped = (value: unknown): unknown => (value instanceof TypedValue ? value.value : value);

function putMember(mapped: Record<string, unknown>, name: string, key: string, value: unknown): void {
  const members = mapped[name];
  if (isObject(members)) members[key] = value;
  else mapped[name] = { [key]: value };
}

/** Amounts as numbers, and the currency beside them as that of the product, where that says nothing else. */
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

/**
 * The one rule for a mapped `status`: a yes-or-no value (true, false, 1, 0) counts when the column is called
 * archived or discontinued (`Discontinued`, `is_archived`, `isDiscontinued`): yes is `archived`, no is
 * `active`. From any other column, and for any other value, the value is read as in any status column.
 */
function toStatus(value: unknown, column: string): unknown {
  if (!archivedColumn.test(column.slice(column.lastIndexOf('.') + 1))) return value;
  const word = String(value).trim().toLowerCase();
  if (word === 'true' || word === '1') return 'archived';
  if (word === 'false' || word === '0') return 'active';
  return value;
}
