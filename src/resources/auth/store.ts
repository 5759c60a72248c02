/** The queries of sessions. A session is kept under the hash of its refresh token, never the token. */
import type { Database, Session } from '../../storage/database.ts';
import type { SessionsTable } from '../../storage/tables-credentials.ts';

export interface SessionStore {
  insert(session: Session, row: SessionsTable): Promise<void>;
  findByToken(session: Session, tokenHash: string): Promise<SessionsTable | undefined>;
  /** Notes a use. @returns whether the session still exists */
  touch(session: Session, id: string, now: number): Promise<boolean>;
  removeByToken(session: Session, tokenHash: string): Promise<void>;
  removeAllOf(session: Session, userId: number): Promise<void>;
  /** Forgets sessions that have ended; gives how many there were. */
  sweep(session: Session, now: number): Promise<number>;
}

export const tokenHash = (token: string) => new Bun.CryptoHasher('sha256').update(token).digest('hex');

export function sessionStore({ build }: Pick<Database, 'build'>): SessionStore {
  return {
    async insert(session, row) {
      await session.run(build.insertInto('sessions').values(row).compile());
    },
    findByToken: (session, hash) =>
      session.first(build.selectFrom('sessions').selectAll().where('token_hash', '=', hash).compile()),
    async touch(session, id, now) {
      const query = build.updateTable('sessions').set({ last_used_at: now }).where('id', '=', id);
      return (await session.run(query.compile())) > 0;
    },
    async removeByToken(session, hash) {
      await session.run(build.deleteFrom('sessions').where('token_hash', '=', hash).compile());
    },
    async removeAllOf(session, userId) {
      await session.run(build.deleteFrom('sessions').where('user_id', '=', userId).compile());
    },
    sweep: (session, now) =>
      session.run(build.deleteFrom('sessions').where('expires_at', '<=', now).compile()),
  };
}
