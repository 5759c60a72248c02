/**
 * Money, exactly: prices are decimal numbers as people write them, amounts are whole minor units (cents). What a
 * price is in minor units is read off its decimal digits; binary fractions are never calculated with.
 */

/** The largest amount that is counted: what a number holds exactly. */
export const largestAmount = Number.MAX_SAFE_INTEGER;

/** Digits after the decimal point (ISO 4217) of the currencies that have not two. Made once: asking Intl is slow. */
const unusualExponents: ReadonlyMap<string, number> = new Map(
  Intl.supportedValuesOf('currency').flatMap(currency => {
    const exponent = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
      .maximumFractionDigits;
    return exponent === undefined || exponent === 2 ? [] : [[currency, exponent] as const];
  }),
);

/** How many decimal digits the currency's minor unit stands for; 2 for a currency that is not known. */
export function getExponent(currency: string): number {
  return unusualExponents.get(currency) ?? 2;
}

/**
 * A price in minor units, rounded half up by its decimal digits: 1.005 EUR are 101 cents.
 * @param price finite, not negative, in major units; a bigint, since a price may be larger than any amount
 */
export function toMinor(price: number, currency: string): bigint {
  // The shortest decimal that stands for this number: what was sent, or an equal of it.
  const [, whole = '', fraction = '', exponent = '0'] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(price)) ?? [];
  if (whole === '') throw new RangeError(`${price} is not a price`);
  const digits = whole + fraction;
  /** How many of the digits stand before the decimal point of the amount. */
  const point = whole.length + Number(exponent) + getExponent(currency);
  if (point < 0) return 0n;
  const amount = BigInt(digits.slice(0, point).padEnd(point, '0') || '0');
  return digits.charAt(point) >= '5' ? amount + 1n : amount;
}

/**
 * An amount in major units: the number nearest to it, which up to 10^15 minor units stands for no other.
 * @param minor whole minor units, not negative
 */
export function toMajor(minor: number, currency: string): number {
  return Number(formatDecimal(minor, currency));
}

/** For people: `EUR 1,234.50`. */
export function formatMoney(minor: number, currency: string): string {
  const [whole = '', fraction] = formatDecimal(minor, currency).split('.');
  const grouped = BigInt(whole).toLocaleString('en-US');
  return `${currency} ${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

function formatDecimal(minor: number, currency: string): string {
  const exponent = getExponent(currency);
  const digits = String(minor).padStart(exponent + 1, '0');
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}
