/**
 * The queries of the tokens for one address of one user: to confirm a requested one, or to restore one that
 * was given up. Made and kept like those of mail-tokens.ts; each names the address it was sent to.
 */

import { sql } from 'kysely';
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import type { Database, Session } from '../../storage/database.ts';
import { prepareRemoval } from '../../storage/table-rows.ts';
import type { AddressTokensTable } from '../../storage/tables/credentials.ts';

type AddressPurpose = AddressTokensTable['purpose'];

interface AddressToken {
  readonly user_id: number;
  readonly email: string;
  /** The user's version when it was made: says which of two was made first. */
  readonly user_version: number;
}

export interface AddressTokens {
  /**
   * @param lifetime milliseconds
   * @returns the token, which is not kept
   */
  issue(
    session: Session,
    purpose: AddressPurpose,
    token: AddressToken,
    now: number,
    lifetime: number,
  ): Promise<string>;
  /** What a token is for; undefined when it was never issued, has been used or has expired. */
  find(
    session: Session,
    token: string,
    purpose: AddressPurpose,
    now: number,
  ): Promise<AddressToken | undefined>;
  /** Uses a token up. @returns whether it could still be used */
  use(session: Session, token: string): Promise<boolean>;
  /** Withdraws the user's tokens that were made after this version: all when it is 0. */
  withdraw(session: Session, userId: number, afterVersion: number): Promise<void>;
  /** Deletes some tokens that have expired. @returns how many: see `removeInParts` */
  sweep(session: Session, now: number): Promise<number>;
}

export function createAddressTokens(database: Pick<Database, 'build' | 'dialect'>): AddressTokens {
  const { build } = database;
  const expired = prepareRemoval<{ now: number }>(
    database,
    { table: 'address_tokens', key: ['token_hash'], locking: 'skipLocked' },
    ({ now }) => sql`expires_at <= ${now}`,
  );
  return {
    async issue(session, purpose, { user_id, email, user_version }, now, lifetime) {
      const token = createRandomSecret();
      const times = { created_at: now, expires_at: now + lifetime };
      const row = { token_hash: hashSecret(token), user_id, purpose, email, user_version, ...times };
      await session.run(build.insertInto('address_tokens').values(row).compile());
      return token;
    },
    find(session, token, purpose, now) {
      const query = build
        .selectFrom('address_tokens')
        .select(['user_id', 'email', 'user_version'])
        .where('token_hash', '=', hashSecret(token))
        .where('purpose', '=', purpose)
        .where('expires_at', '>', now);
      return session.first(query.compile());
    },
    async use(session, token) {
      const query = build.deleteFrom('address_tokens').where('token_hash', '=', hashSecret(token));
      return (await session.run(query.compile())) > 0;
    },
    async withdraw(session, userId, afterVersion) {
      const query = build
        .deleteFrom('address_tokens')
        .where('user_id', '=', userId)
        .where('user_version', '>', afterVersion);
      await session.run(query.compile());
    },
    sweep: (session, now) => session.run(expired({ now })),
  };
}
