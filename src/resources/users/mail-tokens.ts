/**
 * The queries of mailed tokens: links to set a password or confirm the address of an account, and those for one address
 * of a user, to confirm a requested one or restore a former one. A token is 256 random bits, used once and stored as a
 * hash, which need not be slow.
 */
import { sql } from 'kysely';
import { maxClockSkewMs } from '../../ports/clock.ts';
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import type { Database, Session } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createSweep } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';

export type Purpose = Row<'user_tokens'>['purpose'];

interface Issued<Name extends string> {
  readonly purpose: Name;
  readonly now: number;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** What tokens of all kinds have in common. @param columns the data of a token */
function createTokenRows<Data extends object, Name extends string>(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  table: 'user_tokens' | 'address_tokens',
  columns: readonly (keyof Data & string)[],
) {
  const rows = sql.table(table);
  const names = sql.join(columns.map(column => sql.ref(column)));
  const find = prepareQuery<{ hash: string; purpose: string; now: number; latest: number }, Data>(
    build,
    ({ hash, purpose, now, latest }) => sql`select ${names} from ${rows}
      where token_hash = ${hash} and purpose = ${purpose} and expires_at > ${now} and created_at <= ${latest}`,
  );
  const remove = prepareQuery<{ hash: string }, unknown>(
    build,
    ({ hash }) => sql`delete from ${rows} where token_hash = ${hash}`,
  );
  return {
    async insert(session: Session, token: string, data: Data, { purpose, now, lifetime }: Issued<Name>) {
      const values = sql.join(columns.map(column => data[column]));
      const insert = sql`insert into ${rows} (token_hash, purpose, created_at, expires_at, ${names})
        values (${hashSecret(token)}, ${purpose}, ${now}, ${now + lifetime}, ${values})`;
      await session.run(insert.compile(build));
    },
    /**
     * The data of a token; undefined if it was never issued, was used or has expired. So has one that was issued before
     * the clock was set back: it would outlive its time.
     */
    find: (session: Session, token: string, purpose: Name, now: number) =>
      // The lookup is by hash, so the time of the comparison reveals nothing about the token.
      session.first(find({ hash: hashSecret(token), purpose, now, latest: now + maxClockSkewMs })),
    /** Consumes a token. @returns whether it could still be used */
    use: async (session: Session, token: string) =>
      (await session.run(remove({ hash: hashSecret(token) }))) > 0,
    /** Deletes some tokens that have expired; returns how many (see `removeInParts`). */
    sweep: createSweep({ build, dialect }, { table, key: ['token_hash'] }, 'expires_at'),
  };
}

export type MailTokens = ReturnType<typeof createMailTokens>;

export function createMailTokens(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const { insert, find, use, sweep } = createTokenRows<{ readonly user_id: number }, Purpose>(
    database,
    'user_tokens',
    ['user_id'],
  );
  return {
    /**
     * Issues a token and withdraws the user's others for this purpose. If the mail is refused, tokens of earlier mails
     * stay valid. So do tokens with a later expiry: anyone may request a link for a forgotten password, and it must not
     * end an invitation.
     * @param send queues the mail with the token, which is not stored; returns the reason if the mail is not sent
     * @returns the result of `send`
     */
    async issue<Refusal>(
      session: Session,
      { userId, ...issued }: Issued<Purpose> & { readonly userId: number },
      send: (token: string) => Promise<Refusal | undefined>,
    ): Promise<Refusal | undefined> {
      const token = createRandomSecret();
      const refused = await send(token);
      if (refused !== undefined) return refused;
      const { purpose, now, lifetime } = issued;
      const others = sql`delete from user_tokens
        where user_id = ${userId} and purpose = ${purpose}
          and (expires_at <= ${now + lifetime} or created_at > ${now + maxClockSkewMs})`;
      await session.run(others.compile(build));
      await insert(session, token, { user_id: userId }, issued);
      return undefined;
    },
    /** The owner of a token; undefined if it was never issued, was used or has expired. */
    ownerOf: async (session: Session, token: string, purpose: Purpose, now: number) =>
      (await find(session, token, purpose, now))?.user_id,
    use,
    /** Withdraws the user's tokens for one purpose, or for all. */
    async withdraw(session: Session, userId: number, purpose?: Purpose): Promise<void> {
      const only = purpose === undefined ? sql`` : sql`and purpose = ${purpose}`;
      await session.run(sql`delete from user_tokens where user_id = ${userId} ${only}`.compile(build));
    },
    sweep,
  };
}

type AddressToken = Pick<Row<'address_tokens'>, 'user_id' | 'email' | 'user_version'>;

export type AddressTokens = ReturnType<typeof createAddressTokens>;

export function createAddressTokens(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const columns = ['user_id', 'email', 'user_version'] as const;
  type AddressPurpose = Row<'address_tokens'>['purpose'];
  const { insert, ...rows } = createTokenRows<AddressToken, AddressPurpose>(
    database,
    'address_tokens',
    columns,
  );
  return {
    ...rows,
    /** @returns the token, which is not stored */
    async issue(session: Session, given: AddressToken & Issued<AddressPurpose>): Promise<string> {
      const token = createRandomSecret();
      await insert(session, token, given, given);
      return token;
    },
    /** Withdraws the user's tokens that were created after this version; all of them if it is 0. */
    async withdraw(session: Session, userId: number, afterVersion: number): Promise<void> {
      const query = sql`delete from address_tokens
        where user_id = ${userId} and user_version > ${afterVersion}`;
      await session.run(query.compile(build));
    },
  };
}
