/**
 * Limits that slow down instead of closing: so many failures cost nothing, and each one after them has to be waited
 * for, twice as long as the one before. What is not repeated is forgiven, one failure after the other.
 */
import type { Clock } from '../../ports/clock.ts';
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

export interface Delays {
  /** Counts a failure against all of them; against none when one of them has to wait. */
  charge(charges: readonly Charge[]): Promise<Charged>;
  /** Takes the failure back. */
  refund(charges: readonly Charge[]): Promise<Charged>;
  /** Forgets what has been forgiven long ago; gives how many counters there were. */
  sweep(): Promise<number>;
}

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
const keptMs = 86_400_000;
/** By so much the clocks of replicas may differ: what lies further ahead is of a clock that has been set back since. */
const skewMs = 60_000;
const untouched: Counter = { failures: 0, failed_at: 0, failed_before: 0 };

/** As in Retry-After: so each wait is over when its Retry-After and its reset say so. */
const wholeSecond = (now: number): number => now - (now % 1000);

/** How long after so many failures the next attempt may be made, in milliseconds. */
const waitAfter = (failures: number, { limit, longest }: DelayRule): number =>
  failures < limit ? 0 : 1000 * Math.min(longest, 2 ** (failures - limit));

const dueAt = ({ failures, failed_at }: Counter, rule: DelayRule): number =>
  failed_at + waitAfter(failures, rule);

/** Whether its last failure lies in a future that has been taken back. */
const isAhead = ({ failed_at }: Counter, now: number): boolean => failed_at > now + skewMs;

/** A failure that has not happened yet happens now: its wait begins again, and is no longer than it was. */
function caughtUp(counter: Counter, now: number): Counter {
  if (!isAhead(counter, now)) return counter;
  const { failures, failed_before } = counter;
  return { failures, failed_at: wholeSecond(now), failed_before: Math.min(failed_before, wholeSecond(now)) };
}

/** What is left of a counter: once its wait is over, failures are forgiven. */
function forgiven(counter: Counter, rule: DelayRule, now: number): Counter {
  const each = (1000 * rule.window) / rule.limit;
  const count = Math.min(counter.failures, Math.floor((now - dueAt(counter, rule)) / each));
  if (count <= 0) return counter;
  const failures = counter.failures - count;
  // As if these had been all: so that the next one is forgiven when it would have been.
  const failed_at = dueAt(counter, rule) + count * each - waitAfter(failures, rule);
  return { failures, failed_at, failed_before: failed_at };
}

const withFailure = ({ failures, failed_at }: Counter, now: number): Counter => ({
  failures: failures + 1,
  failed_at: wholeSecond(now),
  failed_before: failed_at,
});

const withoutLast = ({ failures, failed_before }: Counter): Counter => ({
  failures: Math.max(0, failures - 1),
  failed_at: failed_before,
  failed_before,
});

function stateOf({ rule, counter }: Counted, now: number): QuotaState {
  const due = dueAt(counter, rule);
  // Where nothing has to be waited for, it does not matter when the last failure was.
  const allowed = due <= now || waitAfter(counter.failures, rule) === 0;
  return {
    allowed,
    limit: rule.limit,
    remaining: allowed ? Math.max(0, rule.limit - counter.failures) : 0,
    reset: allowed ? Math.floor(now / 1000) + rule.window : Math.ceil(due / 1000),
  };
}

function tightest(counted: readonly Counted[], now: number): Charged {
  const [first, ...others] = counted.map(one => ({ rule: one.rule, state: stateOf(one, now) }));
  if (first === undefined) throw new Error('an attempt must be counted against something');
  const isTighter = (a: QuotaState, b: QuotaState) =>
    a.allowed === b.allowed ? (a.allowed ? a.remaining < b.remaining : a.reset > b.reset) : !a.allowed;
  return others.reduce((tight, other) => (isTighter(other.state, tight.state) ? other : tight), first);
}

/** Subjects name people and places: only their hash is kept. */
const hashOf = ({ rule, subject }: Charge): string =>
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

export function growingDelays(counters: Counters, clock: Clock): Delays {
  const count = (charges: readonly Charge[], found: ReadonlyMap<string, Counter>, now: number): Counted[] =>
    charges.map(charge => ({
      ...charge,
      counter: forgiven(caughtUp(found.get(hashOf(charge)) ?? untouched, now), charge.rule, now),
    }));

  /** Changes all of them, or counts against none when it is refused. */
  const update = (
    charges: readonly Charge[],
    change: (counter: Counter, now: number) => Counter,
    isRefused: (standing: Charged) => boolean = () => false,
  ): Promise<Charged> =>
    counters.update<Charged>(charges.map(hashOf), found => {
      const now = clock.now();
      const counted = count(charges, found, now);
      const standing = tightest(counted, now);
      if (isRefused(standing)) {
        // What was ahead is kept as it is now: so its wait begins again once, and not with each attempt.
        return anyAhead(found, now)
          ? { next: counted.map(({ counter }) => counter), result: standing }
          : { result: standing };
      }
      const changed = counted.map(one => ({ ...one, counter: change(one.counter, now) }));
      const { rule, state } = tightest(changed, now);
      return {
        next: changed.map(({ counter }) => counter),
        result: { rule, state: { ...state, allowed: true } },
      };
    });
  const mustWait = ({ state }: Charged): boolean => !state.allowed;
  const anyAhead = (found: ReadonlyMap<string, Counter>, now: number): boolean =>
    [...found.values()].some(counter => isAhead(counter, now));

  return {
    async charge(charges) {
      const now = clock.now();
      const found = await counters.read(charges.map(hashOf));
      const standing = tightest(count(charges, found, now), now);
      // Anyone who does not wait is not worth a write.
      if (mustWait(standing) && !anyAhead(found, now)) return standing;
      return update(charges, withFailure, mustWait);
    },
    refund: charges => update(charges, withoutLast),
    sweep: () => counters.sweep(clock.now() - keptMs),
  };
}
