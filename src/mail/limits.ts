/**
 * Limits the mail to each recipient, whatever its cause. Mail is counted in the database, by the transaction that
 * queues it, so the limits hold across replicas and restarts.
 */
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { HttpError } from '../http/errors.ts';
import { buildQuotaHeaders, createRateLimitError } from '../http/quota/index.ts';
import type { Database, Session } from '../storage/database.ts';
import { prepareRemoval } from '../storage/table-rows.ts';

const hour = 3600;
const day = 24 * hour;
/** Mails per day that one user may cause to unconfirmed addresses: each may belong to a stranger. */
const unconfirmedPerUser = 10;

/** A limit that is used up, and until when (seconds since the epoch). */
export interface MailRefusal {
  /** The limit reached: a setting for mails to one recipient, or the limit of the user who caused them. */
  readonly of: 'MAIL_LIMIT' | 'MAIL_LIMIT_UNCONFIRMED' | 'user';
  readonly limit: number;
  readonly window: number;
  readonly reset: number;
}

interface CountedMail {
  readonly address: string;
  /** Mail to an unconfirmed address counts both as such and as mail to the recipient. */
  readonly isConfirmed: boolean;
  /** The user who causes mail to an unconfirmed address, such as `user:5`; undefined if that is not counted. */
  readonly causer: string | undefined;
}

export type MailLimits = ReturnType<typeof createMailLimits>;

/** Identifies a mailbox: case and subaddress (RFC 5233) do not distinguish mailboxes. */
export function toMailbox(address: string): string {
  const text = address.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  const plus = text.indexOf('+');
  return plus > 0 && plus < at ? text.slice(0, plus) + text.slice(at) : text;
}

/** The most mails in any period of the window's length, whenever it begins. */
interface Limit extends Pick<MailRefusal, 'of' | 'limit' | 'window'> {
  readonly subject: string;
}

/** The second at which a mail counts: rounded up, so that it never counts for too short a time. */
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

  /** Makes other transactions on the same counter wait until this one ends: they must see its count. */
  async function lock(session: Session, { of, subject }: Limit): Promise<void> {
    // All mail to a recipient counts against MAIL_LIMIT: one lock is enough.
    if (of === 'MAIL_LIMIT_UNCONFIRMED') return;
    const query = dialect.lock?.(subject, 'exclusive');
    if (query !== undefined) await session.all(query.compile(build));
  }

  /** Mails of the same second share a row, so this reads no more rows than mails were sent. */
  async function findRefusal(
    session: Session,
    { subject, of, limit, window }: Limit,
    now: number,
  ): Promise<MailRefusal | undefined> {
    // Rows later than that were counted by a wrong clock.
    const last = toSecond(now) + window;
    const counted = sql<{ window_start: number; used: number }>`select window_start, used from quotas
      where subject = ${subject} and window_start > ${Math.floor(now / 1000) - window} and window_start <= ${last}
      order by window_start desc`;
    let used = 0;
    for (const row of await session.all(counted.compile(build))) {
      used += row.used;
      if (used >= limit) return { of, limit, window, reset: row.window_start + window };
    }
    return undefined;
  }

  return {
    /**
     * Counts a mail against all its limits, or against none if one is used up. @param now epoch milliseconds
     * @returns why the mail must not be sent, if so
     */
    async count(session: Session, mail: CountedMail, now: number): Promise<MailRefusal | undefined> {
      const limits = listLimits(mail);
      for (const limit of limits) await lock(session, limit);
      for (const limit of limits) {
        const refusal = await findRefusal(session, limit, now);
        if (refusal !== undefined) return refusal;
      }
      const rows = limits.map(({ subject }) => sql`(${subject}, ${toSecond(now)}, 1)`);
      const count = sql`insert into quotas (subject, window_start, used) values ${sql.join(rows)}
        on conflict (subject, window_start) do update set used = quotas.used + 1`;
      await session.run(count.compile(build));
      return undefined;
    },
    /** Deletes some expired counters and returns how many: see `removeInParts`. */
    sweep: (session: Session, now: number) =>
      session.run(expired({ before: Math.floor(now / 1000) - 2 * day })),
  };
}

/** A 429 for callers who learn nothing about others from it. @param now epoch milliseconds */
export function createMailLimitError(refusal: MailRefusal, now: number): HttpError {
  const state = { allowed: false, remaining: 0, limit: refusal.limit, reset: refusal.reset };
  return createRateLimitError(
    'Too much mail was sent',
    state,
    now,
    buildQuotaHeaders({ ...refusal, name: 'mail' }, state, now),
  );
}
