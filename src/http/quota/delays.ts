/**
 * Limits that slow down instead of closing: so many failures cost nothing, and each one after them has to be waited
 * for, twice as long as the one before. What is not repeated is forgiven, one failure after the other.
 */
import { type Clock, dayMs } from '../../ports/clock.ts';
import type { QuotaState } from './index.ts';

export interface DelayRule {
  /** Distinguishes the counters of rules. */
  readonly name: string;
  /** Failures without a delay; they are forgiven evenly within the window, in seconds. */
  readonly limit: number;
  readonly window: number;
  /** What has to be waited at most, in seconds. */
  readonly longest: number;
}

/** What an attempt is counted against. */
export interface Charge {
  readonly rule: DelayRule;
  readonly subject: string;
}

/** How things stand with the charge that has the least left, or has to wait longest. */
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
/** By so much the clocks of replicas may differ: what lies further ahead is of a clock that has been set back since. */
const skewMs = 60_000;
const untouched: Counter = { failures: 0, failed_at: 0, failed_before: 0 };

/** As in Retry-After: so each wait is over when its Retry-After and its reset say so. */
const toWholeSecond = (now: number): number => now - (now % 1000);

/** How long after so many failures the next attempt may be made, in milliseconds. */
const computeWait = (failures: number, { limit, longest }: DelayRule): number =>
  failures < limit ? 0 : 1000 * Math.min(longest, 2 ** (failures - limit));

const computeDueTime = ({ failures, failed_at }: Counter, rule: DelayRule): number =>
  failed_at + computeWait(failures, rule);

/** Whether its last failure lies in a future that has been taken back. */
const isAhead = ({ failed_at }: Counter, now: number): boolean => failed_at > now + skewMs;

/** A failure that has not happened yet happens now: its wait begins again, and is no longer than it was. */
function catchUp(counter: Counter, now: number): Counter {
  if (!isAhead(counter, now)) return counter;
  const { failures, failed_before } = counter;
  return {
    failures,
    failed_at: toWholeSecond(now),
    failed_before: Math.min(failed_before, toWholeSecond(now)),
  };
}

/** What is left of a counter: once its wait is over, failures are forgiven. */
function forgiveFailures(counter: Counter, rule: DelayRule, now: number): Counter {
  const each = (1000 * rule.window) / rule.limit;
  const count = Math.min(counter.failures, Math.floor((now - computeDueTime(counter, rule)) / each));
  if (count <= 0) return counter;
  const failures = counter.failures - count;
  // As if these had been all: so that the next one is forgiven when it would have been.
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
  // Without a delay it does not matter when the last failure was.
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

/** Subjects name people and places: only their hash is kept. */
const hashCharge = ({ rule, subject }: Charge): string =>
  new Bun.CryptoHasher('sha256').update(`${rule.name} ${subject}`).digest('hex');

/** Where failures are counted: in one process or, for many, in their database. */
export interface Counters {
  read(hashes: readonly string[]): Promise<ReadonlyMap<string, Counter>> | ReadonlyMap<string, Counter>;
  /**
   * Changes several at once, while no one else does.
   * @param change gives what they are to be, in the same order; undefined to leave all as they are
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

  /** Changes all of them, or counts against none when it is refused. */
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
        // What was ahead is kept as it is now: so its wait begins again once, and not with each attempt.
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
    /** Counts a failure against all of them; against none when one of them has to wait. */
    async charge(charges: readonly Charge[]): Promise<Charged> {
      const now = clock.now();
      const found = await counters.read(charges.map(hashCharge));
      const standing = findTightest(count(charges, found, now), now);
      // Anyone who does not wait is not worth a write.
      if (mustWait(standing) && !isAnyAhead(found, now)) return standing;
      return update(charges, addFailure, mustWait);
    },
    /** Takes the failure back. */
    refund: (charges: readonly Charge[]) => update(charges, removeLastFailure),
    /** Forgets some of what has been forgiven long ago; gives how many counters: see `removeInParts`. */
    sweep: () => counters.sweep(clock.now() - keptMs),
  };
}
