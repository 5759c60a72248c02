/** From which addresses users have signed in, each kept as a hash of the account and the address together. */
import { dayMs } from '../../ports/clock.ts';
import type { Database, Session } from '../../storage/database.ts';

/** How long an address stays known without a sign-in: 90 days, in milliseconds. */
const lifetime = 90 * dayMs;

export interface KnownAddresses {
  /** @param account the e-mail address as `toEmailKey` gives it, whether or not there is such a user */
  isKnown(session: Session, account: string, address: string): Promise<boolean>;
  keep(session: Session, userId: number, account: string, address: string, now: number): Promise<void>;
  /** Those of a user whose password others may have known. */
  forget(session: Session, userId: number): Promise<void>;
  /** Forgets those without a sign-in for long; gives how many there were. */
  sweep(session: Session, now: number): Promise<number>;
}

const hashAddress = (account: string, address: string) =>
  new Bun.CryptoHasher('sha256').update(`${account} ${address}`).digest('hex');

export function createKnownAddresses({ build }: Pick<Database, 'build'>): KnownAddresses {
  return {
    async isKnown(session, account, address) {
      const query = build
        .selectFrom('known_addresses')
        .select('user_id')
        .where('hash', '=', hashAddress(account, address));
      return (await session.first(query.compile())) !== undefined;
    },
    async keep(session, userId, account, address, now) {
      const used = { user_id: userId, last_used_at: now };
      const query = build
        .insertInto('known_addresses')
        .values({ hash: hashAddress(account, address), ...used })
        .onConflict(conflict => conflict.column('hash').doUpdateSet(used));
      await session.run(query.compile());
    },
    async forget(session, userId) {
      await session.run(build.deleteFrom('known_addresses').where('user_id', '=', userId).compile());
    },
    sweep: (session, now) =>
      session.run(
        build
          .deleteFrom('known_addresses')
          .where('last_used_at', '<=', now - lifetime)
          .compile(),
      ),
  };
}
