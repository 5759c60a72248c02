/** Reads the dates of sales, in the formats of various countries. */
import type { Drafting } from './preset.ts';

interface Moment {
  /** Epoch milliseconds; a time without an offset is in UTC. */
  readonly at: number;
  /** Whether the date has no time: a sale that ends on such a date lasts until the end of that day. */
  readonly isDay: boolean;
}

const unreadable = 'sales whose dates cannot be read count as over: the regular price was taken';
const eitherWay = 'ambiguous dates of sales were read with the month first';

export interface Period {
  readonly from: string;
  readonly to: string;
  /** Whether the period lasts a day longer than its end says, even if that has a time. */
  readonly endsWithDay?: boolean;
}

/** Whether a sale is on between two dates; an empty date leaves that end open. */
export function isSaleOn(dates: Period, { now, note }: Pick<Drafting, 'now' | 'note'>): boolean {
  const dayFirst = isDayFirst(dates.from) || isDayFirst(dates.to);
  const isOn = isBetween(dates, dayFirst, now);
  if (isOn === undefined) note(unreadable);
  else if (!dayFirst && isBetween(dates, true, now) === !isOn) note(eitherWay);
  return isOn === true;
}

/** Undefined when a date cannot be read. */
function isBetween({ from, to, endsWithDay }: Period, dayFirst: boolean, now: number): boolean | undefined {
  const [start, end] = [readDate(from, dayFirst), readDate(to, dayFirst)];
  if ((from !== '' && start === undefined) || (to !== '' && end === undefined)) return undefined;
  const last =
    end === undefined ? Number.POSITIVE_INFINITY : end.at + (end.isDay || endsWithDay === true ? day : 0);
  return (start?.at ?? Number.NEGATIVE_INFINITY) <= now && now < last;
}

const day = 24 * 3600 * 1000;
const maxLength = 40;
/** Three numbers with the same separator between them, and optionally a time. */
const dateForm = /^(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})(?:(?:,?\s+|T)(\S.*))?$/i;
const timeForm =
  /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:\s?([ap])\.?m\.?)?\s?(?:z|utc|gmt|([+-])(\d{2}):?(\d{2})?)?$/i;

/** Whether the day comes first, as in `25/12/24`: the month cannot be 25. */
function isDayFirst(text: string): boolean {
  const [, first = '', sign] = dateForm.exec(text.slice(0, maxLength)) ?? [];
  return sign === '/' && first.length <= 2 && Number(first) > 12;
}

/** Reads `2024-03-01`, `01.03.24, 00:00`, `3/1/24`, `2024-02-24T13:00-0800`; undefined for any other format. */
function readDate(text: string, dayFirst: boolean): Moment | undefined {
  const found = text.length > maxLength ? null : dateForm.exec(text);
  if (found === null) return undefined;
  const [, first = '', sign = '', second = '', third = '', time] = found;
  const at = parseDay([first, second, third], sign, dayFirst);
  const passed = time === undefined ? 0 : readTime(time);
  if (at === undefined || passed === undefined) return undefined;
  return { at: at + passed, isDay: time === undefined };
}

function parseDay(
  [first, second, third]: readonly [string, string, string],
  sign: string,
  dayFirst: boolean,
): number | undefined {
  if (first.length === 4 && third.length <= 2) return toUtcDay(first, second, third);
  if (first.length > 2 || (third.length !== 2 && third.length !== 4)) return undefined;
  // With hyphens, either the day or the month may come first, and nothing shows which.
  if (sign === '-') return undefined;
  return sign === '.' || dayFirst ? toUtcDay(third, second, first) : toUtcDay(third, first, second);
}

/** Undefined if the month does not have that day. */
function toUtcDay(year: string, month: string, date: string): number | undefined {
  const at = Date.UTC(Number(year.length === 2 ? `20${year}` : year), Number(month) - 1, Number(date));
  const there = new Date(at);
  const isThere = there.getUTCMonth() === Number(month) - 1 && there.getUTCDate() === Number(date);
  return isThere ? at : undefined;
}

/** Milliseconds since the beginning of the day in UTC. */
function readTime(text: string): number | undefined {
  const found = timeForm.exec(text);
  if (found === null) return undefined;
  const [, hours, minutes, seconds = '0', half = '', sign = '+', offsetHours = '0', offsetMinutes = '0'] =
    found;
  const hour = half === '' ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  return ((hour * 60 + Number(minutes) - offset) * 60 + Number(seconds)) * 1000;
}

/**
 * Splits a period such as `2024-02-24/2024-02-29` into its two dates, which may also contain `/`. A single date is the
 * beginning of the period.
 */
export function splitPeriod(text: string): { readonly from: string; readonly to: string } {
  const parts = text.split('/');
  const half = parts.length / 2;
  if (half !== 1 && half !== 3) return { from: text, to: '' };
  return { from: parts.slice(0, half).join('/').trim(), to: parts.slice(half).join('/').trim() };
}
