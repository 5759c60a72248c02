/**
 * The request quota for several replicas on one database. Each replica takes requests in small blocks and spends them
 * locally, so that most requests need not wait; the next block is fetched ahead of need. Together the replicas never
 * allow more than the limit. A replica counts requests that others took and did not spend as used, so near the end of a
 * quota it may refuse a caller up to one block per replica early. Refunds are also sent to the others in blocks: a
 * caller may receive too many by up to one block per replica.
 */
import { sql } from 'kysely';
import { type Clock, dayMs } from '../../ports/clock.ts';
import { type Database, StorageError } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createSweep } from '../../storage/table-rows.ts';
import type { Quota, QuotaState } from './index.ts';
import { createWindow } from './window.ts';

/** A block is this share of the limit; small limits are counted one by one, exactly. */
const blocksPerLimit = 100;

interface Account {
  /** Taken from the database and not yet spent. */
  unspent: number;
  /** Taken by all replicas, as far as this one knows. */
  taken: number;
  /** Refunds in this window by all replicas, as far as this one knows. */
  refunded: number;
  /** Refunds that the other replicas do not know of yet. */
  unsent: number;
  fetching: Promise<void> | undefined;
}

export interface SharedQuotaOptions {
  /** Distinguishes the counters of different quotas. */
  readonly name: string;
  /** The limit of callers without one of their own. */
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
  readonly clock: Clock;
  readonly database: Database;
  /** Whether requests are admitted uncounted while the database accepts no writes. */
  readonly failsOpen?: boolean | undefined;
}

const computeBlock = (limit: number): number => Math.max(1, Math.floor(limit / blocksPerLimit));

export function createSharedQuota(options: SharedQuotaOptions): Quota {
  const { name, limit: usual, window, clock, database, failsOpen = false } = options;
  let uncounted = 0;
  const accounts = createWindow<Account>(window, clock);

  type Take = { subject: string; window: number; block: number };
  const take = prepareQuery<Take, { used: number }>(
    database.build,
    argument => sql`insert into quotas (subject, window_start, used)
        values (${argument.subject}, ${argument.window}, ${argument.block})
        on conflict (subject, window_start) do update set used = quotas.used + excluded.used
        returning used`,
  );

  const removeWindows = createSweep(
    database,
    { table: 'quotas', key: ['subject', 'window_start'] },
    'window_start',
  );

  const createAccount = (): Account => ({
    unspent: 0,
    taken: 0,
    refunded: 0,
    unsent: 0,
    fetching: undefined,
  });

  const toState = (
    account: Account | undefined,
    reset: number,
    limit: number,
    allowed = true,
  ): QuotaState => ({
    allowed,
    limit,
    remaining: account === undefined ? limit : Math.max(0, limit - account.taken) + account.unspent,
    reset,
  });

  function fetchBlock(account: Account, subject: string, limit: number): Promise<void> {
    const block = computeBlock(limit);
    account.fetching ??= (async () => {
      try {
        const query = take({ subject: `${name} ${subject}`, window: accounts.start(), block });
        const row = await database.write(session => session.first(query), { reservedConnection: true });
        const used = row?.used ?? limit;
        account.unspent += Math.max(0, block - Math.max(0, used - limit));
        account.taken = Math.min(used, limit);
      } catch (error) {
        if (!failsOpen || !isWithoutWrites(error)) throw error;
        account.unspent += block;
        uncounted += block;
      } finally {
        account.fetching = undefined;
      }
    })();
    return account.fetching;
  }

  /** Sends a block of refunds in the background: no request waits for it. */
  function sendRefunds(account: Account, subject: string): void {
    const block = account.unsent;
    const query = take({ subject: `${name} refunds ${subject}`, window: accounts.start(), block });
    account.unsent = 0;
    database
      .write(session => session.first(query), { reservedConnection: true })
      .then(row => {
        account.refunded = Math.max(account.refunded, (row?.used ?? 0) + account.unsent);
      })
      // Refunds that could not be sent still count here.
      .catch(() => undefined);
  }

  return {
    limit: usual,
    window,
    async charge(subject, limit = usual) {
      const reset = accounts.turn();
      const account = accounts.ensure(subject, createAccount);
      while (account.unspent === 0) {
        // The whole limit is taken: another query cannot change that before the window ends.
        if (account.taken >= limit) return toState(account, reset, limit, false);
        await fetchBlock(account, subject, limit);
      }
      account.unspent--;
      const block = computeBlock(limit);
      if (block > 1 && account.unspent <= block / 2 && account.taken < limit) {
        // Ahead of need; if this fails, the request that needs the block tries again and reports the failure.
        fetchBlock(account, subject, limit).catch(() => undefined);
      }
      return toState(account, reset, limit);
    },
    refund(subject, limit, maxRefunds) {
      const reset = accounts.turn();
      const account = accounts.find(subject);
      // Without an account the request was charged in a past window.
      if (account === undefined || account.refunded >= maxRefunds) return toState(account, reset, limit);
      account.refunded++;
      account.unspent++;
      account.unsent++;
      if (account.unsent >= computeBlock(maxRefunds)) sendRefunds(account, subject);
      return toState(account, reset, limit);
    },
    peek(subject) {
      const reset = accounts.turn();
      return toState(accounts.find(subject), reset, usual);
    },
    uncounted: () => uncounted,
    subjects: () => accounts.size(),
    sweep: () => {
      accounts.turn();
      const last = accounts.start() - dayMs / 1000;
      return database.write(session => removeWindows(session, last));
    },
  };
}

/** A standby or an unreachable database cannot count, but the requests themselves may be reads that can be served. */
function isWithoutWrites(error: unknown): boolean {
  return error instanceof StorageError && ['unavailable', 'refused', 'read-only'].includes(error.kind);
}
