/** Reads the names of columns that hold amounts in one currency: `Preis EUR`, `Price (USD)`, `price_eur`. */
import { type Amount, type AmountOptions, readAmount, readCurrency } from './amount.ts';
import { AmountIn, type Reader, Unreadable } from './fields.ts';
import type { Mapping } from './map.ts';

/** The fields that hold amounts of money. */
export const amountFields = ['price', 'compareAtPrice', 'basePrice'] as const;

/** Codes that are also words, as in `Top price`: they name a currency only as the last word of a column's name. */
const wordCodes: ReadonlySet<string> = new Set([
  ...['ALL', 'BAM', 'BOB', 'COP', 'CUP', 'GEL', 'MAD', 'MOP', 'PEN', 'SOS', 'SUR', 'TOP', 'TRY'],
]);

/** Words that say that a price includes taxes, or that join a price and its currency. */
const fillers: ReadonlySet<string> = new Set(
  'brutto bruto gross ttc inkl incl including mwst vat tax iva btw in en em w'.split(' '),
);

/** The names of a column of prices without its currency, in the languages of many files. */
const priceNames: ReadonlySet<string> = new Set([
  ...'price unitprice sellingprice retailprice preis verkaufspreis bruttopreis einzelpreis'.split(' '),
  ...'vk vkpreis preisvk prix prixdevente prixunitaire precio preciodeventa prezzo prezzodivendita'.split(
    ' ',
  ),
  ...'prijs verkoopprijs preço preçodevenda cena pris fiyat'.split(' '),
]);

/** Characters of a name that are read: Unicode normalisation orders the marks on one letter in quadratic time. */
const maxNameLength = 1000;

/** Splits `price_eur`, `priceEur` and `Preis (€)` into words; a sign is a word of its own, with letters before it. */
const parseWords = (column: string): string[] =>
  column
    .slice(0, maxNameLength)
    .normalize('NFKC')
    .replace(/MwSt|USt/g, 'vat')
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/\p{L}{3}(?=\p{Sc})|\p{L}(?=[€¥])/gu, '$& ')
    .split(/[^\p{L}\p{Sc}]+/u)
    .filter(word => word !== '');

/** The currency in a word; undefined for words such as `ft`, which some countries also write for a currency. */
function findSign(word: string, isLast: boolean): string | undefined {
  if (/^euros?$/i.test(word)) return 'EUR';
  const code = readCurrency(word);
  if (!/^[A-Z]{3}$/.test(code)) return undefined;
  const isCode = code === word.toUpperCase();
  if (isCode) return isKnown(code) && (isLast || !wordCodes.has(code)) ? code : undefined;
  return /^[a-z]+$/i.test(word) ? undefined : word;
}

const isKnown = (code: string): boolean => typeof readAmount(`1 ${code}`) !== 'string';

interface PricedColumn {
  /** The name without the currency, in lower case and without spaces. */
  readonly bareName: string;
  /** A code, or a sign that may stand for several currencies. */
  readonly sign: string;
}

/** Undefined if the column's name has no currency, or several. */
function parseColumn(column: string): PricedColumn | undefined {
  const words = parseWords(column);
  const signs = new Set<string>();
  const others: string[] = [];
  for (const [index, word] of words.entries()) {
    const sign = findSign(word, index === words.length - 1);
    if (sign !== undefined) signs.add(sign);
    else if (!fillers.has(word.toLowerCase())) others.push(word.toLowerCase());
  }
  const [sign, ...more] = signs;
  return sign === undefined || more.length > 0 ? undefined : { bareName: others.join(''), sign };
}

/**
 * Finds the columns of amounts whose names have a currency, for a table without a column of the field's own name: that
 * of the price, and those of other amounts in its currency.
 * @param isFree whether a field has no column and no value yet
 * @throws Error with one line when several columns could be the price
 */
export function findPriceColumns(
  columns: readonly string[],
  isFree: (field: string) => boolean,
  options: AmountOptions,
): Mapping {
  const found = new Map<string, string>();
  if (!isFree('price')) return found;
  const priced = columns.flatMap(column => {
    const parsed = parseColumn(column);
    return parsed === undefined ? [] : [{ ...parsed, column, code: readCurrency(parsed.sign, options) }];
  });
  const [price, ...others] = priced.filter(({ bareName }) => priceNames.has(bareName));
  if (price === undefined) return found;
  if (others.length > 0) {
    const names = [price, ...others].map(({ column }) => `"${column}"`).join(' and ');
    throw new Error(`${names} are all columns of prices: --map price=COLUMN decides which is read`);
  }
  found.set('price', price.column);
  for (const field of amountFields) {
    if (!isFree(field)) continue;
    const same = priced.filter(
      ({ bareName, code }) => bareName === field.toLowerCase() && code === price.code,
    );
    if (same.length === 1 && same[0] !== undefined) found.set(field, same[0].column);
  }
  return found;
}

/** The currency in the name of a column of amounts; undefined if it has none. */
export function findColumnCurrency(column: string, options: AmountOptions): string | undefined {
  const sign = parseColumn(column)?.sign;
  return sign === undefined ? undefined : readCurrency(sign, options);
}

/** Reads amounts as if each had the currency that the name of its column has; `read` reads those of other columns. */
export function createAmountReader(column: string, read: Reader): Reader {
  const sign = parseColumn(column)?.sign;
  if (sign === undefined) return read;
  return (value, options) => {
    const named = readAmount(`0 ${sign}`, options);
    // A number of JSON has a decimal point, whatever the options say of texts.
    if (typeof value === 'number' && typeof named !== 'string') return toAmountIn({ ...named, value });
    if (typeof value !== 'string') return read(value, options);
    const amount = readAmount(`${value} ${sign}`, options);
    if (typeof amount !== 'string') return toAmountIn(amount);
    const own = readAmount(value, { ...options, watch: undefined });
    if (typeof own === 'string' || own.currency === undefined) return new Unreadable(amount, value);
    const problem = `is in ${own.currency}, but its column is in ${readCurrency(sign, options)}`;
    return new Unreadable(problem, value);
  };
}

const toAmountIn = ({ value, currency, choices }: Amount): unknown =>
  currency === undefined ? value : new AmountIn(value, currency, choices);
