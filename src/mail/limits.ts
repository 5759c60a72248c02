/**
 * How much mail one recipient gets, whatever makes the service write it: counted where all mail passes, in the
 * database and by the transaction that queues the mail, so it holds across replicas and restarts.
 */
import type { Config } from '../config.ts';
import type { HttpError } from '../http/errors.ts';
import { buildQuotaHeaders, createRateLimitError } from '../http/quota/index.ts';
import type { Database, Session } from '../storage/database.ts';

const hour = 3600;
const day = 24 * hour;
/** Mails a day that one user may cause to addresses that are not confirmed: each may be another stranger's. */
const unconfirmedPerUser = 10;

/** What is used up, and until when: seconds since the epoch. */
export interface MailRefusal {
  readonly limit: number;
  readonly window: number;
  readonly reset: number;
}

export interface MailLimits {
  /**
   * Counts one mail. @param now epoch milliseconds
   * @returns why it is not to be sent, if so
   */
  toRecipient(
    session: Session,
    address: string,
    isConfirmed: boolean,
    now: number,
  ): Promise<MailRefusal | undefined>;
  /** The same for mail to unconfirmed addresses that a user has caused. @param actor as in `user:5` */
  byUser(session: Session, actor: string, now: number): Promise<MailRefusal | undefined>;
  /** Forgets windows that are over; gives how many there were. */
  sweep(session: Session, now: number): Promise<number>;
}

/** What makes mails go to one mailbox: neither case nor a subaddress (RFC 5233) makes another. */
export function toMailbox(address: string): string {
  const text = address.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  const plus = text.indexOf('+');
  return plus > 0 && plus < at ? text.slice(0, plus) + text.slice(at) : text;
}

export function createMailLimits(
  { build }: Pick<Database, 'build'>,
  { MAIL_LIMIT, MAIL_LIMIT_UNCONFIRMED }: Pick<Config, 'MAIL_LIMIT' | 'MAIL_LIMIT_UNCONFIRMED'>,
): MailLimits {
  async function take(
    session: Session,
    subject: string,
    limit: number,
    window: number,
    now: number,
  ): Promise<MailRefusal | undefined> {
    const seconds = Math.floor(now / 1000);
    const row = { subject, window_start: seconds - (seconds % window) };
    const count = build
      .insertInto('quotas')
      .values({ ...row, used: 1 })
      .onConflict(conflict =>
        conflict
          .columns(['subject', 'window_start'])
          .doUpdateSet(({ eb }) => ({ used: eb('quotas.used', '+', 1) })),
      );
    await session.run(count.compile());
    const counted = build.selectFrom('quotas').select('used').where('subject', '=', row.subject);
    const used = (await session.first(counted.where('window_start', '=', row.window_start).compile()))?.used;
    return (used ?? 0) > limit ? { limit, window, reset: row.window_start + window } : undefined;
  }

  return {
    toRecipient(session, address, isConfirmed, now) {
      const mailbox = new Bun.CryptoHasher('sha256').update(toMailbox(address)).digest('hex');
      return isConfirmed
        ? take(session, `mail ${mailbox}`, MAIL_LIMIT, hour, now)
        : take(session, `mail unconfirmed ${mailbox}`, MAIL_LIMIT_UNCONFIRMED, day, now);
    },
    byUser: (session, actor, now) => take(session, `mail by ${actor}`, unconfirmedPerUser, day, now),
    sweep: (session, now) =>
      session.run(
        build
          .deleteFrom('quotas')
          .where('subject', 'like', 'mail %')
          .where('window_start', '<', Math.floor(now / 1000) - 2 * day)
          .compile(),
      ),
  };
}

/** A 429 for those who learn nothing about others from it. @param now epoch milliseconds */
export function createMailLimitError(refusal: MailRefusal, now: number): HttpError {
  const state = { allowed: false, remaining: 0, limit: refusal.limit, reset: refusal.reset };
  return createRateLimitError(
    'Enough mail has been sent',
    state,
    now,
    buildQuotaHeaders(refusal, state, now),
  );
}
