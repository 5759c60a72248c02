/**
 * What stands against guessing the password of a sign-in. It slows whoever guesses, not the owner: failures count
 * against the account and the address together. From an address that the user has signed in from before, failures
 * made elsewhere do not count at all, so nobody can keep an owner out; from others, guesses of many addresses at one
 * account, and of one address at many accounts, are limited as well.
 */
import type { Input } from '../../http/endpoint.ts';
import type { QuotaFactory } from '../../http/quota/index.ts';
import type { Database } from '../../storage/database.ts';
import type { KnownAddresses } from './known-addresses.ts';

/** Failures, and the seconds in which they count. */
const limits = {
  /** Of an account and an address. */
  pair: [10, 900],
  /** The same where the user has signed in from the address before: whoever shares it waits for minutes at most. */
  knownPair: [20, 300],
  account: [100, 900],
  address: [100, 900],
} as const;

const refusal = 'There have been too many attempts to sign in from here';

/**
 * Has a password compared, when there may be another attempt.
 * @param account the e-mail address as `emailKey` gives it, whether or not there is such a user
 * @param compare gives whether the password is the right one
 * @throws HttpError 429
 */
export type SignInGuard = (
  input: Pick<Input<unknown, unknown, unknown>, 'charge' | 'address'>,
  account: string,
  compare: () => Promise<boolean>,
) => Promise<boolean>;

export function signInGuard(
  { read }: Pick<Database, 'read'>,
  known: KnownAddresses,
  createQuota: QuotaFactory,
): SignInGuard {
  const perPair = createQuota('sign-in pair', ...limits.pair);
  const perKnownPair = createQuota('sign-in known pair', ...limits.knownPair);
  const perAccount = createQuota('sign-in account', ...limits.account);
  const perAddress = createQuota('sign-in address', ...limits.address);
  const inTurn = turns();

  return ({ charge, address }, account, compare) => {
    const pair = `${account} ${address}`;
    // One after the other: an attempt is charged before it is made, and those that succeed are given back, so any
    // number of right passwords at once are let in, and no number of wrong ones at once gets past the limit.
    return inTurn(pair, async () => {
      const charges = (await known.isKnown(read, account, address))
        ? ([[perKnownPair, pair]] as const)
        : ([
            [perAddress, address],
            [perAccount, account],
            [perPair, pair],
          ] as const);
      const refunds: (() => void)[] = [];
      for (const [quota, subject] of charges) refunds.push(await charge(quota, subject, refusal));
      const matches = await compare();
      if (matches) for (const refund of refunds) refund();
      return matches;
    });
  };
}

/** Runs work of the same key one after the other, in the order it came. */
function turns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work);
    const ended = turn.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, ended);
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    return turn;
  };
}
