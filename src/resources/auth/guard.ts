/** What stands before an attempt to guess a secret, or to make the service send mail. */
import type { Input } from '../../http/endpoint.ts';
import type { Quota } from '../../http/quota/index.ts';

/** Attempts in one window: those against one account, and those from one address. */
export interface Attempts {
  readonly perAccount: Quota;
  readonly perAddress: Quota;
}

export interface Attempt {
  /** Gives the attempt back: only failures count. */
  succeeded(): void;
}

/**
 * Counts an attempt before it is made; the answer's quota headers show how many are left.
 * @param account what it is made against; undefined when nobody can tell yet
 * @throws HttpError 429 when there have been too many, of the account or of the address
 */
export type Guard = (
  input: Pick<Input<unknown, unknown, unknown>, 'charge' | 'address'>,
  account: string | undefined,
) => Promise<Attempt>;

const refusal = 'There have been too many attempts';

export function attemptGuard({ perAccount, perAddress }: Attempts): Guard {
  return async ({ charge, address }, account) => {
    const refunds = [await charge(perAddress, address, refusal)];
    if (account !== undefined) refunds.push(await charge(perAccount, account, refusal));
    return {
      succeeded() {
        for (const refund of refunds) refund();
      },
    };
  };
}
