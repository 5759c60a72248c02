/**
 * Limits that delay instead of blocking. The first failures are free; after them each failure doubles the wait before
 * the next attempt. Failures are forgiven one by one while none follow.
 */
import { type Clock, dayMs, maxClockSkewMs } from '../../ports/clock.ts';
import type { QuotaState } from './index.ts';

export interface DelayRule {
  /** Distinguishes the counters of rules. */
  readonly name: string;
  /** Failures without a delay; they are forgiven evenly over the window, in seconds. */
  readonly limit: number;
  readonly window: number;
  /** The longest wait, in seconds. */
  readonly longest: number;
}

/** A rule and a subject that an attempt is counted against. */
export interface Charge {
  readonly rule: DelayRule;
  readonly subject: string;
}

/** The state of the charge with the fewest attempts left, or the longest wait. */
interface Charged {
  readonly rule: DelayRule;
  readonly state: QuotaState;
}

export type Delays = ReturnType<typeof createGrowingDelays>;

export interface Counter {
  readonly failures: number;
  /** Epoch milliseconds of the last failure, and of the one before it. */
  readonly failed_at: number;
  readonly failed_before: number;
}

interface Counted extends Charge {
  readonly counter: Counter;
}

/** Everything is forgiven within a day. */
const keptMs = dayMs;
const untouched: Counter = { failures: 0, failed_at: 0, failed_before: 0 };

/** As in Retry-After, so that each wait is over when its Retry-After and its reset say so. */
const toWholeSecond = (now: number): number => now - (now % 1000);

/** The wait after a number of failures before the next attempt, in milliseconds. */
const computeWait = (failures: number, { limit, longest }: DelayRule): number =>
  failures < limit ? 0 : 1000 * Math.min(longest, 2 ** (failures - limit));

const computeDueTime = ({ failures, failed_at }: Counter, rule: DelayRule): number =>
  failed_at + computeWait(failures, rule);

/** Whether the last failure is in the future, because the clock was set back. */
const isAhead = ({ failed_at }: Counter, now: number): boolean => failed_at > now + maxClockSkewMs;

/** Moves a last failure from the future to now: its wait starts again, and is no longer than before. */
function catchUp(counter: Counter, now: number): Counter {
  if (!isAhead(counter, now)) return counter;
  const { failures, failed_before } = counter;
  return {
    failures,
    failed_at: toWholeSecond(now),
    failed_before: Math.min(failed_before, toWholeSecond(now)),
  };
}

/** A counter less the failures forgiven since its wait was over. */
function forgiveFailures(counter: Counter, rule: DelayRule, now: number): Counter {
  const each = (1000 * rule.window) / rule.limit;
  const count = Math.min(counter.failures, Math.floor((now - computeDueTime(counter, rule)) / each));
  if (count <= 0) return counter;
  const failures = counter.failures - count;
  // As if there had been only the remaining failures, so that the next one is forgiven on schedule.
  const failed_at = computeDueTime(counter, rule) + count * each - computeWait(failures, rule);
  return { failures, failed_at, failed_before: failed_at };
}

const addFailure = ({ failures, failed_at }: Counter, now: number): Counter => ({
  failures: failures + 1,
  failed_at: toWholeSecond(now),
  failed_before: failed_at,
});

const removeLastFailure = ({ failures, failed_before }: Counter): Counter => ({
  failures: Math.max(0, failures - 1),
  failed_at: failed_before,
  failed_before,
});

function computeState({ rule, counter }: Counted, now: number): QuotaState {
  const due = computeDueTime(counter, rule);
  // Without a delay the time of the last failure does not matter.
  const allowed = due <= now || computeWait(counter.failures, rule) === 0;
  return {
    allowed,
    limit: rule.limit,
    remaining: allowed ? Math.max(0, rule.limit - counter.failures) : 0,
    reset: allowed ? Math.floor(now / 1000) + rule.window : Math.ceil(due / 1000),
  };
}

function findTightest(counted: readonly Counted[], now: number): Charged {
  const [first, ...others] = counted.map(one => ({ rule: one.rule, state: computeState(one, now) }));
  if (first === undefined) throw new Error('an attempt must be counted against something');
  const isTighter = (a: QuotaState, b: QuotaState) =>
    a.allowed === b.allowed ? (a.allowed ? a.remaining < b.remaining : a.reset > b.reset) : !a.allowed;
  return others.reduce((tight, other) => (isTighter(other.state, tight.state) ? other : tight), first);
}

/** Subjects identify people and places: only their hash is stored. */
const hashCharge = ({ rule, subject }: Charge): string =>
  new Bun.CryptoHasher('sha256').update(`${rule.name} ${subject}`).digest('hex');

/** Stores the counters of failures: in one process, or in the database that replicas share. */
export interface Counters {
  read(hashes: readonly string[]): Promise<ReadonlyMap<string, Counter>> | ReadonlyMap<string, Counter>;
  /**
   * Changes several counters atomically.
   * @param change returns the new counters in the order of `hashes`; undefined to leave all unchanged
   */
  update<T>(
    hashes: readonly string[],
    change: (found: ReadonlyMap<string, Counter>) => {
      readonly next?: readonly Counter[];
      readonly result: T;
    },
  ): Promise<T>;
  sweep(before: number): Promise<number>;
}

export function createGrowingDelays(counters: Counters, clock: Clock) {
  const count = (charges: readonly Charge[], found: ReadonlyMap<string, Counter>, now: number): Counted[] =>
    charges.map(charge => ({
      ...charge,
      counter: forgiveFailures(catchUp(found.get(hashCharge(charge)) ?? untouched, now), charge.rule, now),
    }));

  /** Changes all counters, or none if the attempt is refused. */
  const update = (
    charges: readonly Charge[],
    change: (counter: Counter, now: number) => Counter,
    isRefused: (standing: Charged) => boolean = () => false,
  ): Promise<Charged> =>
    counters.update<Charged>(charges.map(hashCharge), found => {
      const now = clock.now();
      const counted = count(charges, found, now);
      const standing = findTightest(counted, now);
      if (isRefused(standing)) {
        // A failure in the future is stored as of now, so that its wait starts again only once, not with each attempt.
        return isAnyAhead(found, now)
          ? { next: counted.map(({ counter }) => counter), result: standing }
          : { result: standing };
      }
      const changed = counted.map(one => ({ ...one, counter: change(one.counter, now) }));
      const { rule, state } = findTightest(changed, now);
      return {
        next: changed.map(({ counter }) => counter),
        result: { rule, state: { ...state, allowed: true } },
      };
    });
  const mustWait = ({ state }: Charged): boolean => !state.allowed;
  const isAnyAhead = (found: ReadonlyMap<string, Counter>, now: number): boolean =>
    [...found.values()].some(counter => isAhead(counter, now));

  return {
    /** Counts a failure against all charges, or against none if one of them must wait. */
    async charge(charges: readonly Charge[]): Promise<Charged> {
      const now = clock.now();
      const found = await counters.read(charges.map(hashCharge));
      const standing = findTightest(count(charges, found, now), now);
      // A client that ignores the wait is not worth a write.
      if (mustWait(standing) && !isAnyAhead(found, now)) return standing;
      return update(charges, addFailure, mustWait);
    },
    refund: (charges: readonly Charge[]) => update(charges, removeLastFailure),
    /** Deletes some counters forgiven long ago and returns how many: see `removeInParts`. */
    sweep: () => counters.sweep(clock.now() - keptMs),
  };
}
