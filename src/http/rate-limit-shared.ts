/**
 * The request quota for several replicas on one database. Each replica takes requests in small blocks and
 * spends them by itself, so that most requests wait for nothing; the next block is fetched ahead of need.
 * Together the replicas never allow more than the limit. What one has taken and not spent, the others count
 * as used, so near the end of a quota a caller may be refused up to one block per replica early.
 */
import { sql } from 'kysely';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import { prepared } from '../storage/prepared.ts';
import { boundedMap } from './bounded-map.ts';
import { type Quota, type QuotaState, subjectLimit } from './rate-limit.ts';

/** A block is this share of the limit; small limits are counted one by one, exactly. */
const blocksPerLimit = 100;

interface Account {
  /** Taken from the database and not spent yet. */
  unspent: number;
  /** Taken by all replicas, as far as this one knows. */
  taken: number;
  fetching: Promise<void> | undefined;
}

export interface SharedQuotaOptions {
  /** Distinguishes the counters of different quotas. */
  readonly name: string;
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
  readonly clock: Clock;
  readonly database: Database;
}

export function sharedQuota({ name, limit, window, clock, database }: SharedQuotaOptions): Quota {
  const block = Math.max(1, Math.floor(limit / blocksPerLimit));
  let accounts = boundedMap<string, Account>(subjectLimit);
  let start = 0;

  type Take = { subject: string; window: number; block: number };
  const take = prepared<Take, { used: number }>(argument => ({
    compile: () =>
      sql<{ used: number }>`insert into quotas (subject, window_start, used)
        values (${argument.subject}, ${argument.window}, ${argument.block})
        on conflict (subject, window_start) do update set used = quotas.used + excluded.used
        returning used`.compile(database.build),
  }));

  function turnWindow(): number {
    const now = Math.floor(clock.now() / 1000);
    const current = now - (now % window);
    if (current !== start) {
      start = current;
      accounts = boundedMap(subjectLimit);
    }
    return start + window;
  }

  function accountOf(subject: string): Account {
    let account = accounts.get(subject);
    if (account === undefined) {
      account = { unspent: 0, taken: 0, fetching: undefined };
      accounts.set(subject, account);
    }
    return account;
  }

  const state = (account: Account | undefined, reset: number, allowed = true): QuotaState => ({
    allowed,
    remaining: account === undefined ? limit : Math.max(0, limit - account.taken) + account.unspent,
    reset,
  });

  function fetchBlock(account: Account, subject: string): Promise<void> {
    account.fetching ??= (async () => {
      try {
        const query = take({ subject: `${name} ${subject}`, window: start, block });
        const row = await database.write(session => session.first(query));
        const used = row?.used ?? limit;
        account.unspent += Math.max(0, block - Math.max(0, used - limit));
        account.taken = Math.min(used, limit);
      } finally {
        account.fetching = undefined;
      }
    })();
    return account.fetching;
  }

  return {
    limit,
    window,
    async charge(subject) {
      const reset = turnWindow();
      const account = accountOf(subject);
      while (account.unspent === 0) {
        // The whole limit is taken: asking again cannot change that before the window ends.
        if (account.taken >= limit) return state(account, reset, false);
        await fetchBlock(account, subject);
      }
      account.unspent--;
      if (block > 1 && account.unspent <= block / 2 && account.taken < limit) {
        // Ahead of need; should it fail, the request that needs it tries again and reports the failure.
        fetchBlock(account, subject).catch(() => undefined);
      }
      return state(account, reset);
    },
    refund(subject) {
      const reset = turnWindow();
      const account = accountOf(subject);
      account.unspent++;
      return state(account, reset);
    },
    peek(subject) {
      const reset = turnWindow();
      return state(accounts.get(subject), reset);
    },
    subjects: () => accounts.size(),
    sweep: () => {
      turnWindow();
      const query = database.build
        .deleteFrom('quotas')
        .where('window_start', '<', start - 86_400)
        .compile();
      return database.write(session => session.run(query));
    },
  };
}
