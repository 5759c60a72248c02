/**
 * Limits every attempt to guess a secret, or to make the service send mail. It slows anyone who guesses, not the owner:
 * failures count against the account and the address together. From an address that the user has signed in from before,
 * failures made elsewhere do not count. From other addresses, many addresses guessing at one account, and one address
 * guessing at many accounts, are slowed too.
 */
import type { HandlerContext } from '../../http/endpoint.ts';
import { buildErrorDetail, HttpError } from '../../http/errors.ts';
import type { Charge, DelayRule, Delays } from '../../http/quota/delays.ts';
import { createRateLimitError } from '../../http/quota/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Database, ignoreStorageError } from '../../storage/database.ts';
import type { StoredUser } from '../users/store.ts';
import type { KnownAddresses } from './known-addresses.ts';
import type { PasswordCheck } from './passwords.ts';

type From = Pick<HandlerContext<unknown, unknown, unknown>, 'showQuota' | 'address'>;

/**
 * Makes an attempt if another one is allowed, and counts it as a failure if the request is refused; a failure of the
 * service does not count. The quota headers of the response show how many failures are left before a delay.
 * @param subject the account by `toEmailKey`, whether or not there is such a user; or the token that is tried
 * @throws HttpError 429
 */
export type Guard = <T>(from: From, subject: string, attempt: () => Promise<T>) => Promise<T>;

/** Failures without a delay, the seconds after which they are forgiven, and the longest delay in seconds. */
const limits = {
  /** For an account and an address, for a token, or for mails to an account from an address. */
  pair: [5, 900, 900],
  token: [10, 900, 900],
  mail: [10, 900, 900],
  /** For an account and a known address: others who share the address can delay the owner for a minute at most. */
  knownPair: [20, 300, 60],
  /** For an account, from all unknown addresses together. */
  account: [100, 900, 60],
  /** For an address, across all accounts. */
  address: [100, 900, 900],
} as const;

/** Attempts from an address at once in a process: while they are made, they count as failures of the address. */
const maxAtOnce = 20;

const refusal = 'Too many attempts';

export function createGuards(
  { read }: Pick<Database, 'read'>,
  known: KnownAddresses,
  delays: Delays,
  clock: Clock,
) {
  const inTurn = createTurns(1);
  const amongFew = createTurns(maxAtOnce);

  /** Ignores storage errors: the client must learn the outcome of the attempt, not of the refund. */
  async function giveBack(from: From, charges: readonly Charge[]): Promise<void> {
    try {
      const { rule, state } = await delays.refund(charges);
      from.showQuota(rule, state);
    } catch (error) {
      ignoreStorageError(error);
    }
  }

  /** @param chargesOf the charges of an attempt, the narrowest first */
  function guard(
    chargesOf: (subject: string, address: string) => Promise<Charge[]> | Charge[],
    keeps = false,
  ): Guard {
    return async (from, subject, attempt) => {
      const charges = await chargesOf(subject, from.address);
      const nameTurn = (charge: Charge | undefined) => `${charge?.rule.name} ${charge?.subject}`;
      const chargeAndMake = async () => {
        const { rule, state } = await delays.charge(charges);
        from.showQuota(rule, state);
        if (!state.allowed) throw createRateLimitError(refusal, state, clock.now());
        let made: Awaited<ReturnType<typeof attempt>>;
        try {
          made = await attempt();
        } catch (error) {
          if (!isRefusal(error)) await giveBack(from, charges);
          throw error;
        }
        if (!keeps) await giveBack(from, charges);
        return made;
      };
      // One after the other: an attempt is charged before it is made, and refunded if it succeeds. So any number of
      // correct attempts at once succeed, and no number of wrong ones at once exceeds the limit.
      return inTurn(nameTurn(charges[0]), () => amongFew(nameTurn(charges.at(-1)), chargeAndMake));
    };
  }

  function createPasswordGuard(what: string): Guard {
    const rules = {
      pair: createRule(`${what} pair`, limits.pair),
      knownPair: createRule(`${what} known pair`, limits.knownPair),
      account: createRule(`${what} account`, limits.account),
      address: createRule(`${what} address`, limits.address),
    };
    return guard(async (account, address) => {
      const pair = `${account} ${address}`;
      if (await known.isKnown(read, account, address)) return [{ rule: rules.knownPair, subject: pair }];
      return [
        { rule: rules.pair, subject: pair },
        { rule: rules.account, subject: account },
        { rule: rules.address, subject: address },
      ];
    });
  }

  const tokenRules = [
    createRule('token', limits.token),
    createRule('token address', limits.address),
  ] as const;
  const mailRules = [
    createRule('mail pair', limits.mail),
    createRule('mail address', limits.address),
  ] as const;
  return {
    signIn: createPasswordGuard('sign-in'),
    /** The same for endpoints that require the current password as well as a token: signing in is not affected. */
    currentPassword: createPasswordGuard('current password'),
    /** Against guessing refresh tokens and mailed tokens. */
    token: guard((token, address) => [
      { rule: tokenRules[0], subject: token },
      { rule: tokenRules[1], subject: address },
    ]),
    /** Against filling a mailbox: successful attempts count too. */
    mail: guard(
      (account, address) => [
        { rule: mailRules[0], subject: `${account} ${address}` },
        { rule: mailRules[1], subject: address },
      ],
      true,
    ),
  };
}

/**
 * Whether the attempt itself failed; a full disk or an unavailable database is no failed attempt, and a token that has
 * expired is no guess: the service has signed it.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof HttpError && error.status < 500 && error.code !== 'TOKEN_EXPIRED';

function createRule(name: string, [limit, window, longest]: readonly [number, number, number]): DelayRule {
  return { name, limit, window, longest };
}

/** Runs at most this much work with the same key at once, in order of arrival. */
function createTurns(most: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async (key, work) => {
    const queue = queues.getOrInsertComputed(key, () => ({ running: 0, waiting: [] }));
    if (queue.running < most) queue.running++;
    else await new Promise<void>(resolve => queue.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next one takes over the place.
      const next = queue.waiting.shift();
      if (next !== undefined) next();
      else if (--queue.running === 0) queues.delete(key);
    }
  };
}

/** @throws HttpError 403 unless the locked user still has the password that was proven before the transaction */
export type RequireProven = (locked: Pick<StoredUser, 'password_hash'>) => void;

/**
 * Proof, by the current password, that a request comes from the user, not just from a holder of the access token.
 * @returns a function that compares a password with the user's, before the transaction, because hashing is slow on
 * purpose, and returns the check that the transaction must make. Wrong passwords have their own limit: signing in is not
 * affected. It throws HttpError 403 if the password is wrong, 429 after too many attempts
 */
export function createPasswordProof(guard: Guard, passwords: PasswordCheck) {
  return async (from: From, user: StoredUser, currentPassword: string): Promise<RequireProven> => {
    const { email_key, password_hash } = user;
    await guard(from, email_key, async () => {
      if (!(await passwords.verify(currentPassword, password_hash))) refuseUnproven();
    });
    return locked => {
      if (locked.password_hash !== password_hash) refuseUnproven();
    };
  };
}

/** @throws HttpError 403 */
export function refuseUnproven(): never {
  throw new HttpError('WRONG_PASSWORD', {
    details: [buildErrorDetail(['currentPassword'], 'password', 'is not the current password')],
  });
}
