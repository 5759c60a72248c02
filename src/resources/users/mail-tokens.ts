/** The queries of mailed tokens. A token is 256 random bits, used once and stored as a hash, which need not be slow. */
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import type { Database, Session } from '../../storage/database.ts';
import { createSweep } from '../../storage/table-rows.ts';
import type { UserTokensTable } from '../../storage/tables/credentials.ts';

export type Purpose = UserTokensTable['purpose'];

export type MailTokens = ReturnType<typeof createMailTokens>;

export function createMailTokens(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  /** Withdraws the user's tokens for one purpose, or for all. */
  async function withdraw(session: Session, userId: number, purpose?: Purpose): Promise<void> {
    const all = build.deleteFrom('user_tokens').where('user_id', '=', userId);
    await session.run((purpose === undefined ? all : all.where('purpose', '=', purpose)).compile());
  }
  return {
    /**
     * Issues a token and withdraws the user's others for this purpose. If the mail is refused, tokens of earlier mails
     * stay valid. So do tokens with a later expiry: anyone may request a link for a forgotten password, and it must not
     * end an invitation.
     * @param lifetime milliseconds
     * @param send queues the mail with the token, which is not stored; returns the reason if the mail is not sent
     * @returns the result of `send`
     */
    async issue<Refusal>(
      session: Session,
      {
        userId,
        purpose,
        now,
        lifetime,
      }: {
        readonly userId: number;
        readonly purpose: Purpose;
        readonly now: number;
        readonly lifetime: number;
      },
      send: (token: string) => Promise<Refusal | undefined>,
    ): Promise<Refusal | undefined> {
      const token = createRandomSecret();
      const refused = await send(token);
      if (refused !== undefined) return refused;
      const expiresAt = now + lifetime;
      const others = build
        .deleteFrom('user_tokens')
        .where('user_id', '=', userId)
        .where('purpose', '=', purpose);
      await session.run(others.where('expires_at', '<=', expiresAt).compile());
      const times = { created_at: now, expires_at: expiresAt };
      const row = { token_hash: hashSecret(token), user_id: userId, purpose, ...times };
      await session.run(build.insertInto('user_tokens').values(row).compile());
      return undefined;
    },
    /** The owner of a token; undefined if it was never issued, was used or has expired. */
    async ownerOf(session: Session, token: string, purpose: Purpose, now: number) {
      // The lookup is by hash, so the time of the comparison reveals nothing about the token.
      const query = build
        .selectFrom('user_tokens')
        .select('user_id')
        .where('token_hash', '=', hashSecret(token))
        .where('purpose', '=', purpose)
        .where('expires_at', '>', now);
      return (await session.first(query.compile()))?.user_id;
    },
    /** Consumes a token. @returns whether it could still be used */
    async use(session: Session, token: string): Promise<boolean> {
      const query = build.deleteFrom('user_tokens').where('token_hash', '=', hashSecret(token));
      return (await session.run(query.compile())) > 0;
    },
    withdraw,
    /** Deletes some tokens that have expired; returns how many (see `removeInParts`). */
    sweep: createSweep(database, { table: 'user_tokens', key: ['token_hash'] }, 'expires_at'),
  };
}
