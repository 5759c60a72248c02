/**
 * The queries of the tokens that are sent by mail. A token is 256 random bits, used once, and kept as its
 * hash; so many bits need no slow hash.
 */
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import type { Database, Session } from '../../storage/database.ts';
import type { UserTokensTable } from '../../storage/tables/credentials.ts';

export type Purpose = UserTokensTable['purpose'];

export interface MailTokens {
  /**
   * Makes a token that takes the place of the user's earlier ones for the same purpose.
   * @param lifetime milliseconds
   * @returns the token, which is not kept
   */
  issue(session: Session, userId: number, purpose: Purpose, now: number, lifetime: number): Promise<string>;
  /** Whose token this is; undefined when it was never issued, has been used or has expired. */
  ownerOf(session: Session, token: string, purpose: Purpose, now: number): Promise<number | undefined>;
  /** Uses a token up. @returns whether it could still be used */
  use(session: Session, token: string): Promise<boolean>;
  /** Withdraws the user's tokens for one purpose, or for all. */
  withdraw(session: Session, userId: number, purpose?: Purpose): Promise<void>;
  /** Forgets tokens that have expired; gives how many there were. */
  sweep(session: Session, now: number): Promise<number>;
}

export function createMailTokens({ build }: Pick<Database, 'build'>): MailTokens {
  async function withdraw(session: Session, userId: number, purpose?: Purpose): Promise<void> {
    const all = build.deleteFrom('user_tokens').where('user_id', '=', userId);
    await session.run((purpose === undefined ? all : all.where('purpose', '=', purpose)).compile());
  }
  return {
    async issue(session, userId, purpose, now, lifetime) {
      await withdraw(session, userId, purpose);
      const token = createRandomSecret();
      const times = { created_at: now, expires_at: now + lifetime };
      const row = { token_hash: hashSecret(token), user_id: userId, purpose, ...times };
      await session.run(build.insertInto('user_tokens').values(row).compile());
      return token;
    },
    async ownerOf(session, token, purpose, now) {
      // The hash is looked up, so how long the comparison takes says nothing about the token.
      const query = build
        .selectFrom('user_tokens')
        .select('user_id')
        .where('token_hash', '=', hashSecret(token))
        .where('purpose', '=', purpose)
        .where('expires_at', '>', now);
      return (await session.first(query.compile()))?.user_id;
    },
    async use(session, token) {
      const query = build.deleteFrom('user_tokens').where('token_hash', '=', hashSecret(token));
      return (await session.run(query.compile())) > 0;
    },
    withdraw,
    sweep: (session, now) =>
      session.run(build.deleteFrom('user_tokens').where('expires_at', '<=', now).compile()),
  };
}
