/** The addresses that users have signed in from, each stored as a hash of the account and the address together. */
import { dayMs } from '../../ports/clock.ts';
import type { Database, Session } from '../../storage/database.ts';
import { createOwnedRemover, createSweep } from '../../storage/table-rows.ts';

/** How long an address stays known after a sign-in: 90 days, in milliseconds. */
const lifetime = 90 * dayMs;

export type KnownAddresses = ReturnType<typeof createKnownAddresses>;

const hashAddress = (account: string, address: string) =>
  new Bun.CryptoHasher('sha256').update(`${account} ${address}`).digest('hex');

export function createKnownAddresses(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const rows = { table: 'known_addresses', key: ['hash'] } as const;
  const sweep = createSweep(database, rows, 'last_used_at');
  return {
    /** @param account the e-mail address as returned by `toEmailKey`, whether or not there is such a user */
    async isKnown(session: Session, account: string, address: string): Promise<boolean> {
      const query = build
        .selectFrom('known_addresses')
        .select('user_id')
        .where('hash', '=', hashAddress(account, address));
      return (await session.first(query.compile())) !== undefined;
    },
    async keep(session: Session, userId: number, account: string, address: string, now: number) {
      const used = { user_id: userId, last_used_at: now };
      const query = build
        .insertInto('known_addresses')
        .values({ hash: hashAddress(account, address), ...used })
        .onConflict(conflict => conflict.column('hash').doUpdateSet(used));
      await session.run(query.compile());
    },
    /** Deletes all addresses of a user whose password others may have known. */
    forget: createOwnedRemover(database, rows),
    /** Deletes some addresses without a recent sign-in; returns how many (see `removeInParts`). */
    sweep: (session: Session, now: number) => sweep(session, now - lifetime),
  };
}
