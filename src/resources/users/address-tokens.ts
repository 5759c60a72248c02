/**
 * The queries of tokens for one address of a user: to confirm a requested address, or to restore a former one. They are
 * created and stored like those of mail-tokens.ts; each has the address it was sent to.
 */
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import type { Database, Session } from '../../storage/database.ts';
import type { AddressTokensTable } from '../../storage/tables/credentials.ts';
import { createTokenRows } from './mail-tokens.ts';

type AddressPurpose = AddressTokensTable['purpose'];

interface AddressToken {
  readonly user_id: number;
  readonly email: string;
  /** The user's version when the token was created: shows which of two tokens is older. */
  readonly user_version: number;
}

interface NewAddressToken extends AddressToken {
  readonly purpose: AddressPurpose;
  readonly now: number;
  /** Milliseconds. */
  readonly lifetime: number;
}

export type AddressTokens = ReturnType<typeof createAddressTokens>;

export function createAddressTokens(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const columns = ['user_id', 'email', 'user_version'] as const;
  return {
    ...createTokenRows<AddressToken, AddressPurpose>(database, 'address_tokens', columns),
    /** @returns the token, which is not stored */
    async issue(session: Session, { now, lifetime, ...given }: NewAddressToken): Promise<string> {
      const token = createRandomSecret();
      const times = { created_at: now, expires_at: now + lifetime };
      const row = { token_hash: hashSecret(token), ...given, ...times };
      await session.run(build.insertInto('address_tokens').values(row).compile());
      return token;
    },
    /** Withdraws the user's tokens that were created after this version; all of them if it is 0. */
    async withdraw(session: Session, userId: number, afterVersion: number): Promise<void> {
      const query = build
        .deleteFrom('address_tokens')
        .where('user_id', '=', userId)
        .where('user_version', '>', afterVersion);
      await session.run(query.compile());
    },
  };
}
