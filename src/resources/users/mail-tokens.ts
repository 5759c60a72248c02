/** The queries of mailed tokens. A token is 256 random bits, used once and stored as a hash, which need not be slow. */
import { sql } from 'kysely';
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import type { Database, Session } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createSweep } from '../../storage/table-rows.ts';
import type { UserTokensTable } from '../../storage/tables/credentials.ts';

export type Purpose = UserTokensTable['purpose'];

export type MailTokens = ReturnType<typeof createMailTokens>;

/**
 * What tokens of all kinds have in common.
 * @param columns the data of a token
 */
export function createTokenRows<Row, For extends string>(
  database: Pick<Database, 'build' | 'dialect'>,
  table: 'user_tokens' | 'address_tokens',
  columns: readonly (keyof Row & string)[],
) {
  const { build } = database;
  const rows = sql.table(table);
  const find = prepareQuery<{ hash: string; purpose: string; now: number }, Row>(
    build,
    ({ hash, purpose, now }) => sql`select ${sql.join(columns.map(column => sql.ref(column)))} from ${rows}
      where token_hash = ${hash} and purpose = ${purpose} and expires_at > ${now}`,
  );
  const remove = prepareQuery<{ hash: string }, unknown>(
    build,
    ({ hash }) => sql`delete from ${rows} where token_hash = ${hash}`,
  );
  return {
    /** The data of a token; undefined if it was never issued, was used or has expired. */
    find: (session: Session, token: string, purpose: For, now: number) =>
      // The lookup is by hash, so the time of the comparison reveals nothing about the token.
      session.first(find({ hash: hashSecret(token), purpose, now })),
    /** Consumes a token. @returns whether it could still be used */
    use: async (session: Session, token: string) =>
      (await session.run(remove({ hash: hashSecret(token) }))) > 0,
    /** Deletes some tokens that have expired; returns how many (see `removeInParts`). */
    sweep: createSweep(database, { table, key: ['token_hash'] }, 'expires_at'),
  };
}

export function createMailTokens(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const { find, use, sweep } = createTokenRows<{ user_id: number }, Purpose>(database, 'user_tokens', [
    'user_id',
  ]);
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
    ownerOf: async (session: Session, token: string, purpose: Purpose, now: number) =>
      (await find(session, token, purpose, now))?.user_id,
    use,
    withdraw,
    sweep,
  };
}
