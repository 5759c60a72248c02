/** Dates in headers (RFC 9110 §5.6.7). */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. */
const forms = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>\w{3})-(?<shortYear>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/** A year of two digits is at most so many years in the future. */
const maxYearsAhead = 50;

/** @param milliseconds epoch milliseconds */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

/**
 * @param now epoch milliseconds; decides on the century of a year of two digits
 * @returns whole seconds since the epoch; undefined if the text is not a date in one of the three forms
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const parts = forms.map(form => form.exec(text)?.groups).find(groups => groups !== undefined);
  if (parts === undefined) return undefined;
  const { year, shortYear } = parts;
  if (shortYear === undefined) return toMoment(Number(year), parts);
  const last = new Date(now);
  const lastYear = last.getUTCFullYear() + maxYearsAhead;
  const latestYear = lastYear - ((lastYear - Number(shortYear)) % 100);
  const latest = toMoment(latestYear, parts);
  const isTooLate = latest !== undefined && latest * 1000 > last.setUTCFullYear(lastYear);
  return isTooLate ? toMoment(latestYear - 100, parts) : latest;
}

/** Seconds since the epoch; undefined if there is no such day or time. */
function toMoment(fullYear: number, { month = '', ...parts }: Readonly<Record<string, string>>) {
  const day = Number(parts.day);
  const [hour = 0, minute = 0, second = 0] = parts.time?.split(':').map(Number) ?? [];
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for those of the twentieth century.
  date.setUTCFullYear(fullYear, months.indexOf(month), day);
  if (!months.includes(month) || date.getUTCDate() !== day) return undefined;
  // The second 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  return date.setUTCHours(hour, minute, second) / 1000;
}
