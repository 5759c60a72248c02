/**
 * Money, exactly: prices are decimal numbers as people write them, with as many decimals as they have; amounts are whole
 * minor units (cents). They are calculated from the decimal digits of prices, never with binary fractions.
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
 * What so many cost, in minor units: price × quantity, rounded half up once, after it was multiplied. 10,000 for 0.004 EUR
 * each are 4000 cents.
 * @param price finite, not negative, in major units
 * @param quantity whole, not negative
 * @returns a bigint, since it may be larger than any amount that is counted
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

/** The shortest decimal that stands for this number: what was sent, or an equal of it. */
function parsePrice(price: number): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(price)) ?? [];
  if (whole === '') throw new RangeError(`${price} is not a price`);
  const decimals = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return decimals < 0 ? { digits: digits * 10n ** BigInt(-decimals), decimals: 0 } : { digits, decimals };
}

/**
 * An amount in major units: the number nearest to it, which up to 10^15 minor units stands for no other.
 * @param minor whole minor units, not negative
 */
export function toMajor(minor: number, currency: string): number {
  return Number(formatDecimal(minor, getExponent(currency)));
}

/** For people: `EUR 1,234.50`. */
export function formatMoney(minor: number, currency: string): string {
  return `${currency} ${groupThousands(formatDecimal(minor, getExponent(currency)))}`;
}

/** For people, without the currency: all decimals of the price, and at least those of the currency: `1,234.50`, `0.004`. */
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

/** @param units whole units; the last `decimals` digits stand behind the decimal point */
function formatDecimal(units: number | bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
