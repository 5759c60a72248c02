/** Makes attributes of columns and values that have no field in a product. */
import { toAttributeKey } from '../../../attribute-key.ts';
import type { DecimalMark } from '../../../files/cells/amount.ts';
import { parseTypedText } from '../../../files/cells/typed.ts';
import type { Drafting, Row } from './preset.ts';

/** Limits for the attributes of a product; with more, the product would be refused. */
const [maxKeys, maxValues, maxTextLength] = [100, 50, 1000];

/** Leaves room for a number: a key has at most 64 characters. */
const maxPlainLength = 58;

const numbered = 'attributes whose key another attribute has got a number at the end of the key';

/** Makes keys that differ for different names: the later name gets a number. */
export function createAttributeKeyMaker(note: Drafting['note']): (name: string) => string {
  const keys = new Map<string, string>();
  const byPlain = new Map<string, Map<string, string>>();
  const taken = new Set<string>();
  /** Key → the first number that has not been tried at its end. */
  const numbers = new Map<string, number>();

  function makeKey(plain: string): string {
    let key = plain;
    for (let number = numbers.get(plain) ?? 2; taken.has(key); number += 1) {
      key = `${plain.slice(0, maxPlainLength)}_${number}`;
      numbers.set(plain, number + 1);
    }
    if (key !== plain) note(numbered);
    taken.add(key);
    return key;
  }
  return name =>
    keys.getOrInsertComputed(name, () => {
      const plain = toAttributeKey(name);
      const owners = byPlain.getOrInsertComputed(plain, () => new Map<string, string>());
      // The same attribute may be `Material` in one product and `material` in another.
      return owners.getOrInsertComputed(name.trim().toLowerCase(), () => makeKey(plain));
    });
}

/** The keys of shops' columns for purchase prices. */
const purchasePrices: ReadonlySet<string> = new Set([
  ...['cost', 'cost_per_item', 'cost_of_goods', 'cost_of_goods_sold', 'cost_price', 'purchase_price'],
  ...['meta_wc_cog_cost', 'meta_cogs_total_value', 'meta_alg_wc_cog_cost', 'meta_yith_cog_cost'],
  ...['meta_wcj_purchase_price', 'meta_purchase_price', 'meta_cost_price'],
]);

/** @param names the attributes to leave out, by column name or key */
export function createAttributeDropper(names: readonly string[], note: Drafting['note']) {
  const dropped = new Map(names.map(name => [toAttributeKey(name), { name, found: false }]));
  return {
    /** Whether an attribute is left out. */
    drop(name: string): boolean {
      const known = dropped.size === 0 ? undefined : dropped.get(toAttributeKey(name));
      if (known === undefined) return false;
      known.found = true;
      note(`values of "${known.name}" were left out`);
      return true;
    },
    /** The names that matched no attribute. */
    missing: () => [...dropped.values()].filter(({ found }) => !found).map(({ name }) => name),
  };
}

const keepAsItIs = (text: string): string => text;

/**
 * Collects attributes; a key with several values gets a list.
 * @param read converts the text of a cell @param isSecret whether the shop does not show this column to its customers
 */
export function createAttributeSet(
  { note, keyOf, cells, drop }: Drafting,
  read: (text: string) => string = keepAsItIs,
  isSecret = (_name: string): boolean => false,
) {
  const values = new Map<string, unknown[]>();
  /** The texts that the values were read from: `5.10` is a brand, too. */
  const written = new Map<string, string[]>();
  const isShort = (text: string): boolean => {
    if (text.length > maxTextLength)
      note(`values of more than ${maxTextLength} characters were left out of attributes`);
    return text.length <= maxTextLength && text !== '';
  };
  function addAsItIs(name: string, given: string | readonly string[], parse = parseShopValue): void {
    const texts = (typeof given === 'string' ? [given] : given).filter(isShort);
    if (texts.length === 0) return;
    if (drop(name)) return;
    const key = keyOf(name);
    if (purchasePrices.has(key) || isSecret(name))
      note(
        `"${name}" becomes an attribute, visible to everyone who reads products; --drop "${name}" omits it`,
      );
    const type = cells.types?.get(key);
    const items = texts.map(text =>
      type === undefined ? parse(text, cells.decimal) : parseTypedText(text, type, cells),
    );
    if (!values.has(key) && values.size >= maxKeys) {
      note(`attributes beyond ${maxKeys} were left out`);
      return;
    }
    const had = values.getOrInsertComputed(key, () => []);
    const hadTexts = written.getOrInsertComputed(key, () => []);
    for (const [index, item] of items.entries()) {
      if (had.includes(item)) continue;
      if (had.length < maxValues) {
        had.push(item);
        hadTexts.push(texts[index] ?? '');
      } else note(`values beyond ${maxValues} of an attribute were left out`);
    }
  }
  return {
    /** Adds values that the key does not have yet. */
    add(name: string, given: string | readonly string[]): void {
      addAsItIs(name, typeof given === 'string' ? read(given) : given.map(text => read(text)));
    },
    addAsItIs: (name: string, given: string | readonly string[]): void => addAsItIs(name, given),
    /** Adds texts as they are, even if they look like numbers. */
    addCodes: (name: string, texts: readonly string[]): void => addAsItIs(name, texts, keepAsItIs),
    /** Removes and returns the first value, as its text; undefined if there is none. */
    takeFirst(name: string): string | undefined {
      const key = keyOf(name);
      values.get(key)?.shift();
      if (values.get(key)?.length === 0) values.delete(key);
      return written.get(key)?.shift();
    },
    /** All attributes: a single value keeps its type, several become texts. */
    all(): Record<string, unknown> {
      return Object.fromEntries(
        [...values].map(([key, all]) => [key, all.length === 1 ? all[0] : all.map(String)]),
      );
    },
  };
}

/**
 * Shops write numbers as their databases do: `1.0000`. A number with leading zeros, or a very long one, is a code. With
 * a decimal comma, `12,5` is a number, and `1.234` a text, as without a preset: its point may group digits.
 */
function parseShopValue(text: string, decimal?: DecimalMark): unknown {
  const number = decimal === 'comma' ? text.replace(',', '.') : text;
  const mayBeGrouped = decimal === 'comma' && /^-?\d{1,3}\.\d{3}$/.test(text);
  if (!mayBeGrouped && /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/.test(number)) return Number(number);
  const word = text.toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : text;
}

export type AttributeSet = ReturnType<typeof createAttributeSet>;

/**
 * Adds columns that have no field: for each, the values of the product's own rows, or if these are all empty, those
 * of the other rows.
 */
export function addRest(
  attributes: AttributeSet,
  { own, others = [] }: { readonly own: readonly Row[]; readonly others?: readonly Row[] },
  { dropUnknown }: Drafting,
  columns = own[0]?.columns.rest ?? [],
): void {
  if (dropUnknown) return;
  for (const column of columns) {
    const rows = own.some(row => row.cell(column) !== '') ? own : others;
    for (const row of rows) attributes.add(column, row.cell(column));
  }
}
