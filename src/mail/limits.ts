/**
 * How much mail one recipient gets, whatever makes the service write it: counted where all mail passes, in the
 * database and by the transaction that queues the mail, so it holds across replicas and restarts.
 */
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { HttpError } from '../http/errors.ts';
import { buildQuotaHeaders, createRateLimitError } from '../http/quota/index.ts';
import type { Database, Session } from '../storage/database.ts';
import { prepareRemoval } from '../storage/table-rows.ts';

const hour = 3600;
const day = 24 * hour;
/** Mails a day that one user may cause to addresses that are not confirmed: each may be another stranger's. */
const unconfirmedPerUser = 10;

/** What is used up, and until when: seconds since the epoch. */
export interface MailRefusal {
  /** The limit that was reached: a setting for mails to one recipient, or that of the user who causes them. */
  readonly of: 'MAIL_LIMIT' | 'MAIL_LIMIT_UNCONFIRMED' | 'user';
  readonly limit: number;
  readonly window: number;
  readonly reset: number;
}

interface CountedMail {
  readonly address: string;
  /** Mail to an address that is not confirmed counts as mail to the recipient too. */
  readonly isConfirmed: boolean;
  /** The user who causes mail to an address that is not confirmed, as in `user:5`; undefined where that is not counted. */
  readonly causer: string | undefined;
}

export type MailLimits = ReturnType<typeof createMailLimits>;

/** What makes mails go to one mailbox: neither case nor a subaddress (RFC 5233) makes another. */
export function toMailbox(address: string): string {
  const text = address.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  const plus = text.indexOf('+');
  return plus > 0 && plus < at ? text.slice(0, plus) + text.slice(at) : text;
}

/** The most mails in any period as long as the window, whenever it begins. */
interface Limit extends Pick<MailRefusal, 'of' | 'limit' | 'window'> {
  readonly subject: string;
}

/** The second at which a mail counts: the end of the one it is sent in, so that it never counts for too short a time. */
const toSecond = (now: number): number => Math.ceil(now / 1000);

export function createMailLimits(
  database: Pick<Database, 'build' | 'dialect'>,
  { MAIL_LIMIT, MAIL_LIMIT_UNCONFIRMED }: Pick<Config, 'MAIL_LIMIT' | 'MAIL_LIMIT_UNCONFIRMED'>,
) {
  const { build, dialect } = database;
  const expired = prepareRemoval<{ before: number }>(
    database,
    { table: 'quotas', key: ['subject', 'window_start'], locking: 'skipLocked' },
    ({ before }) => sql`subject like 'mail %' and window_start < ${before}`,
  );

  function listLimits({ address, isConfirmed, causer }: CountedMail): Limit[] {
    const mailbox = new Bun.CryptoHasher('sha256').update(toMailbox(address)).digest('hex');
    const limits: Limit[] = [];
    if (causer !== undefined)
      limits.push({ of: 'user', subject: `mail by ${causer}`, limit: unconfirmedPerUser, window: day });
    if (!isConfirmed) {
      const subject = `mail unconfirmed ${mailbox}`;
      limits.push({ of: 'MAIL_LIMIT_UNCONFIRMED', subject, limit: MAIL_LIMIT_UNCONFIRMED, window: day });
    }
    limits.push({ of: 'MAIL_LIMIT', subject: `mail ${mailbox}`, limit: MAIL_LIMIT, window: hour });
    return limits;
  }

  /** Has other transactions that count the same wait until this one ends: they are to see what it has counted. */
  async function lock(session: Session, { of, subject }: Limit): Promise<void> {
    // All mail to a recipient counts against MAIL_LIMIT: one lock is enough.
    if (of === 'MAIL_LIMIT_UNCONFIRMED') return;
    const query = dialect.lock?.(subject, 'exclusive');
    if (query !== undefined) await session.all(query.compile(build));
  }

  /** Mails of one second are counted in one row: what is read is as much as is sent. */
  async function findRefusal(
    session: Session,
    { subject, of, limit, window }: Limit,
    now: number,
  ): Promise<MailRefusal | undefined> {
    const counted = build
      .selectFrom('quotas')
      .select(['window_start', 'used'])
      .where('subject', '=', subject)
      .where('window_start', '>', Math.floor(now / 1000) - window)
      // What is later still was counted by a clock that was wrong.
      .where('window_start', '<=', toSecond(now) + window)
      .orderBy('window_start', 'desc');
    let used = 0;
    for (const row of await session.all(counted.compile())) {
      used += row.used;
      if (used >= limit) return { of, limit, window, reset: row.window_start + window };
    }
    return undefined;
  }

  return {
    /**
     * Counts one mail everywhere it counts, or nowhere. @param now epoch milliseconds
     * @returns why it is not to be sent, if so
     */
    async count(session: Session, mail: CountedMail, now: number): Promise<MailRefusal | undefined> {
      const limits = listLimits(mail);
      for (const limit of limits) await lock(session, limit);
      for (const limit of limits) {
        const refusal = await findRefusal(session, limit, now);
        if (refusal !== undefined) return refusal;
      }
      const row = { window_start: toSecond(now), used: 1 };
      const count = build
        .insertInto('quotas')
        .values(limits.map(({ subject }) => ({ ...row, subject })))
        .onConflict(conflict =>
          conflict
            .columns(['subject', 'window_start'])
            .doUpdateSet(({ eb }) => ({ used: eb('quotas.used', '+', 1) })),
        );
      await session.run(count.compile());
      return undefined;
    },
    /** Forgets some mails that count no more; gives how many counters: see `removeInParts`. */
    sweep: (session: Session, now: number) =>
      session.run(expired({ before: Math.floor(now / 1000) - 2 * day })),
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
