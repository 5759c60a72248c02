/** Reads amounts of money as people and programs write them: decimal commas, grouped digits, currencies. */

import { getExponent } from '../../money.ts';
import { trimCharacters } from './list.ts';

export type DecimalMark = 'point' | 'comma';

export interface Amount {
  readonly value: number;
  /** An ISO 4217 code, if the text names a currency. */
  readonly currency: string | undefined;
  /** The currencies that the sign may stand for, if there are several. */
  readonly choices?: readonly string[];
}

export interface AmountOptions {
  /** If undefined, detected in each text; a text that can be read in two ways is refused. */
  readonly decimal?: DecimalMark | undefined;
  /** The currency that an ambiguous sign such as $ stands for, if it is one of the sign's currencies. */
  readonly currency?: string | undefined;
  /** Called with the mark of an amount that shows what its file uses, or that may be read wrongly. */
  readonly watch?: ((mark: WatchedMark) => void) | undefined;
}

/** A decimal comma, or a single point before three digits, which may also group them: `1.234`. */
export type WatchedMark = 'comma' | 'grouping point';

/** Signs → the currencies that they may stand for; the first one is the default. */
const signs: Readonly<Record<string, readonly string[]>> = {
  $: ['USD', 'AUD', 'CAD', 'NZD', 'SGD', 'HKD', 'MXN', 'ARS', 'CLP', 'COP', 'TWD'],
  '€': ['EUR'],
  '£': ['GBP', 'EGP', 'GIP'],
  '¥': ['JPY', 'CNY'],
  円: ['JPY'],
  元: ['CNY'],
  '₹': ['INR'],
  RS: ['INR', 'PKR', 'LKR', 'NPR', 'MUR'],
  '₩': ['KRW'],
  원: ['KRW'],
  '₽': ['RUB'],
  '₺': ['TRY'],
  TL: ['TRY'],
  '₪': ['ILS'],
  '₫': ['VND'],
  '₴': ['UAH'],
  '₦': ['NGN'],
  '₱': ['PHP'],
  '฿': ['THB'],
  ZŁ: ['PLN'],
  KČ: ['CZK'],
  FT: ['HUF'],
  LEI: ['RON'],
  KR: ['SEK', 'NOK', 'DKK', 'ISK'],
  CFA: ['XOF', 'XAF'],
  FCFA: ['XOF', 'XAF'],
  DH: ['MAD', 'AED'],
  DHS: ['AED', 'MAD'],
  DA: ['DZD'],
  DT: ['TND'],
  LE: ['EGP'],
  KSH: ['KES'],
  '₵': ['GHS'],
  'GH₵': ['GHS'],
  '৳': ['BDT'],
  TK: ['BDT'],
  '₸': ['KZT'],
  '₾': ['GEL'],
  '₡': ['CRC'],
  '₲': ['PYG'],
  'S/': ['PEN'],
  РУБ: ['RUB'],
  Р: ['RUB'],
  ГРН: ['UAH'],
  ЛВ: ['BGN'],
  ДИН: ['RSD'],
  DIN: ['RSD'],
  R$: ['BRL'],
  R: ['ZAR'],
  RM: ['MYR'],
  RP: ['IDR'],
  US$: ['USD'],
  A$: ['AUD'],
  AU$: ['AUD'],
  C$: ['CAD'],
  CA$: ['CAD'],
  NZ$: ['NZD'],
  S$: ['SGD'],
  HK$: ['HKD'],
  NT$: ['TWD'],
  MX$: ['MXN'],
  FR: ['CHF'],
  SFR: ['CHF'],
};

/** The known currency codes: three letters may also be a unit, as in `12 pcs`. */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const plain = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const groupedOnce = /^[1-9]\d{0,2}\.\d{3}$/;
const digits = /\d(?:[\d.,'’ \u00A0\u202F]*\d)?/;
const maxLength = 60;
/** A number of any length is read, but a longer text is none: its marks would be put in order in quadratic time. */
const maxReadLength = 1000;

/**
 * Reads an amount: `12.5`, `1,234.50`, `1.234,50 €`, `$12.99`, `352 AED`, `1'234.50 CHF`.
 * @returns the amount, or a phrase for people that says why it cannot be read
 */
export function readAmount(given: string, { decimal, currency, watch }: AmountOptions = {}): Amount | string {
  if (given.length > maxReadLength) return 'must be a number';
  // Full-width digits and signs, as Japanese and Chinese input methods write them.
  const bare = given.normalize('NFKC').trim();
  if (decimal !== 'comma' && plain.test(bare)) {
    if (decimal === undefined && watch !== undefined && groupedOnce.test(bare)) watch('grouping point');
    return toAmount(Number(bare), undefined);
  }
  // Adds a zero before a decimal mark without one, as in `.5`; the point of `Rs.100` and `S/.100` belongs to the currency.
  const text = replaceDash(bare.replace(/(?<![\p{L}\d.,/])[.,](?=\d)/u, '0$&'));
  const found = text.length > maxLength ? null : digits.exec(text);
  if (found === null) return 'must be a number';
  const before = text.slice(0, found.index).trim();
  const after = text.slice(found.index + found[0].length).trim();
  const negative = before.startsWith('-');
  const named = [negative ? before.slice(1).trim() : before, after].filter(part => part !== '');
  const choices = findCurrencies(named);
  const [first] = choices;
  if (named.length > 0 && first === undefined) return 'must be a number';
  const code = currency !== undefined && choices.includes(currency) ? currency : first;
  const number = toPlainDigits(found[0], decimal, code);
  if (!('digits' in number)) return number.problem;
  if (decimal === undefined && text.lastIndexOf(',') > text.lastIndexOf('.') && number.digits.includes('.'))
    watch?.('comma');
  const amount = toAmount(Number(number.digits) * (negative ? -1 : 1), code);
  return typeof amount === 'string' || choices.length < 2 ? amount : { ...amount, choices };
}

/** Replaces the dash for no cents, as in `12,-` or `CHF 1'200.–`; zeros keep the mark if the text has another one. */
const replaceDash = (text: string): string =>
  text.replace(/(?<=\d)([.,])[-–—]{1,2}(?!\d)/u, (_, mark: string, at: number) =>
    /[.,]/.test(text.slice(0, at)) ? `${mark}00` : '',
  );

const toAmount = (value: number, currency: string | undefined): Amount | string =>
  Number.isFinite(value) ? { value, currency } : 'must be a number';

/** @returns the currencies that a sign or a code stands for */
function getChoices(name: string): readonly string[] {
  const word = trimCharacters('. ', name.toUpperCase());
  // Spaces within a sign do not matter: `US $`, `F CFA`.
  const sign = word.replaceAll(/\s/g, '');
  if (Object.hasOwn(signs, sign)) return signs[sign] ?? [];
  return currencies.has(word) ? [word] : [];
}

/** The code of a currency that a cell of its own names: `eur`, `€`. Any other text is returned without its spaces. */
export function readCurrency(text: string, { currency }: AmountOptions = {}): string {
  const [first = text.trim(), ...others] = getChoices(text);
  return currency !== undefined && others.includes(currency) ? currency : first;
}

/** The currencies that all names beside an amount may stand for: `$12.99 USD`, `USD $12.99`. */
function findCurrencies(names: readonly string[]): string[] {
  const parts = names.flatMap(name => (getChoices(name).length > 0 ? [name] : name.split(/\s+/)));
  const [first = [], ...others] = parts.map(getChoices);
  return first.filter(one => others.every(other => other.includes(one)));
}

const commaAlone = 'must be a number: for a decimal comma, use --decimal comma';
const eitherWay = 'is ambiguous: add --decimal point or --decimal comma';

/** Converts a number to a decimal point and ungrouped digits. */
function toPlainDigits(
  text: string,
  decimal: DecimalMark | undefined,
  currency: string | undefined,
): { readonly digits: string } | { readonly problem: string } {
  const bare = text.replace(/(\d)['’ \u00A0\u202F](?=\d{3}(?!\d))/g, '$1');
  const mark = decimal === undefined ? findMark(bare, currency) : decimal === 'comma' ? ',' : '.';
  if (mark === 'either') return { problem: eitherWay };
  if (mark === ',' && decimal === undefined && currency === undefined && !bare.includes('.'))
    return { problem: commaAlone };
  const grouping = mark === ',' ? '.' : ',';
  const [whole = '', fraction, ...more] = bare.split(mark);
  const grouped = grouping === '.' ? /^\d{1,3}(?:\.\d{3})+$/ : /^\d{1,3}(?:,\d{3})+$/;
  const isWhole = /^\d+$/.test(whole) || grouped.test(whole);
  if (more.length > 0 || !isWhole || (fraction !== undefined && !/^\d+$/.test(fraction)))
    return {
      problem: decimal === undefined ? 'must be a number' : `must be a number with a decimal ${decimal}`,
    };
  const integer = whole.replaceAll(grouping, '');
  return { digits: fraction === undefined ? integer : `${integer}.${fraction}` };
}

/**
 * The decimal mark that a number must have; `either` for a single mark before three digits, which is ambiguous. A point
 * is a decimal one where programs write it: without a currency (`1.234`), or with one of three decimals (`1.234 KWD`).
 */
function findMark(text: string, currency: string | undefined): '.' | ',' | 'either' {
  const [point, comma] = [text.lastIndexOf('.'), text.lastIndexOf(',')];
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(text) && currency !== undefined) {
    const exponent = getExponent(currency);
    // The mark groups digits if the currency has no minor unit: `CLP 12.990`, `12,900원`.
    if (exponent === 0) return comma < 0 ? ',' : '.';
    if (exponent < 3) return 'either';
  }
  if (comma < 0) return text.indexOf('.') === point ? '.' : ',';
  if (point >= 0) return point > comma ? '.' : ',';
  if (text.indexOf(',') !== comma) return '.';
  return text.length - comma === 4 && comma <= 3 && !text.startsWith('0') ? 'either' : ',';
}
