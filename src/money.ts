/**
 * Exact money. Prices are decimal numbers as people write them, with any number of decimals; amounts are whole minor
 * units (cents). Amounts are calculated from the decimal digits of prices, never in binary fractions.
 */

/** The largest amount supported: the largest integer that a number holds exactly. */
export const maxAmount = Number.MAX_SAFE_INTEGER;

/** Decimal digits (ISO 4217) of the currencies that do not have two. Built once, since Intl is slow. */
const unusualExponents: ReadonlyMap<string, number> = new Map(
  Intl.supportedValuesOf('currency').flatMap(currency => {
    const exponent = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
      .maximumFractionDigits;
    return exponent === undefined || exponent === 2 ? [] : [[currency, exponent] as const];
  }),
);

/** The number of decimal digits of a currency; 2 for an unknown currency. */
export function getExponent(currency: string): number {
  return unusualExponents.get(currency) ?? 2;
}

/**
 * The price of a quantity in minor units: price × quantity, rounded half up once, after the multiplication. 10,000 at
 * 0.004 EUR each cost 4000 cents.
 * @param price finite, not negative, in major units
 * @param quantity whole, not negative
 * @returns a bigint, since it may exceed `maxAmount`
 */
export function computeAmount(price: number, quantity: number, currency: string): bigint {
  const { digits, decimals } = parsePrice(price);
  const units = digits * BigInt(quantity);
  const surplus = decimals - getExponent(currency);
  if (surplus <= 0) return units * 10n ** BigInt(-surplus);
  const unit = 10n ** BigInt(surplus);
  return (2n * units + unit) / (2n * unit);
}

/** A price in minor units, rounded half up: 1.005 EUR are 101 cents. */
export const toMinor = (price: number, currency: string): bigint => computeAmount(price, 1, currency);

/** `digits` / 10^`decimals`, exactly. */
interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

/** The shortest decimal that denotes this number: the one that was sent, or an equal one. */
function parsePrice(price: number): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(price)) ?? [];
  if (whole === '') throw new RangeError(`${price} is not a price`);
  const decimals = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return decimals < 0 ? { digits: digits * 10n ** BigInt(-decimals), decimals: 0 } : { digits, decimals };
}

/**
 * An amount in major units: the nearest number, which up to 10^15 minor units denotes no other amount.
 * @param minor whole minor units, not negative
 */
export function toMajor(minor: number, currency: string): number {
  return Number(formatDecimal(minor, getExponent(currency)));
}

/** For people: `EUR 1,234.50`. */
export function formatMoney(minor: number, currency: string): string {
  return `${currency} ${groupThousands(formatDecimal(minor, getExponent(currency)))}`;
}

/** For people, without the currency: all decimals, and at least as many as the currency has: `1,234.50`, `0.004`. */
export function formatPrice(price: number, currency: string): string {
  const { digits, decimals } = parsePrice(price);
  const shown = Math.max(decimals, getExponent(currency));
  return groupThousands(formatDecimal(digits * 10n ** BigInt(shown - decimals), shown));
}

function groupThousands(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = BigInt(whole).toLocaleString('en-US');
  return `${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** @param units whole units; the last `decimals` digits follow the decimal point */
function formatDecimal(units: number | bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
