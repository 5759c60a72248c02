/** What stands before an attempt to guess a secret, or to make the service send mail. */

export interface Attempt {
  /** Gives the attempt back. */
  succeeded(): void;
}

/**
 * Counts an attempt before it is made.
 * @param account what it is made against; undefined when nobody can tell yet
 * @throws HttpError 429 when there have been too many, of the account or of the address
 */
export type Guard = (account: string | undefined, address: string) => Promise<Attempt>;
