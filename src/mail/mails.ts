/**
 * A transaction queues its mail, which events/dispatcher.ts sends after the commit: none is sent for a transaction that
 * was rolled back, and none is lost. Each mail arrives at least once. If the process dies after the mail server accepts
 * a mail and before that is recorded, the mail is sent again with the same Message-ID, by which mail programs recognise
 * duplicates. Mails are sealed in the database, since they may hold tokens.
 */

import type { Consumer } from '../events/dispatcher.ts';
import type { Cause } from '../events/outbox.ts';
import type { Queue } from '../events/queue.ts';
import type { Log } from '../operations/log.ts';
import type { Mail, Mailer } from '../ports/mail.ts';
import type { Seal } from '../secrets/seal.ts';
import type { Session, Transaction } from '../storage/database.ts';
import { createMailLimitError, type MailLimits, type MailRefusal } from './limits.ts';

/** The subject of a mail, for code that must know when it was sent. */
export interface Subject {
  readonly resource: string;
  readonly resourceId: number;
}

export interface NewMail extends Omit<Mail, 'messageId'> {
  /** Passed to `onSent` when the mail has gone out. */
  readonly about?: Subject;
  /** The recipient has proved ownership of the address. Others get less mail, and no text written by a user. */
  readonly isConfirmed?: boolean;
  /** Caused by a caller who may write to strangers: not counted against that caller. */
  readonly isByStaff?: boolean;
  /** Sent whatever the limits: an attacker must not be able to block this mail by using up a limit. */
  readonly isUnlimited?: boolean;
}

export type Mails = ReturnType<typeof createMails>;

const mailQueue = 'mail';
/** A server may take this long over one mail (RFC 5321 §4.5.3.2; see ports/mail.ts). */
const attemptMs = 15 * 60_000;

interface Payload {
  readonly mail: Mail;
  readonly about: Subject | undefined;
}

export function createMails(queue: Queue, seal: Seal, limits: MailLimits, log: Pick<Log, 'warn'>) {
  async function findRefusal(
    session: Session,
    { to, isConfirmed = false, isByStaff = false }: NewMail,
    { at, actor }: Cause,
  ): Promise<MailRefusal | undefined> {
    const isByUser = !isConfirmed && !isByStaff && actor.startsWith('user:');
    const counted = { address: to.address, isConfirmed, causer: isByUser ? actor : undefined };
    const refused = await limits.count(session, counted, at);
    if (refused?.of === 'user') throw createMailLimitError(refused, at);
    if (refused !== undefined) {
      const { of, ...numbers } = refused;
      log.warn(`mail not sent: its recipient has reached ${of}`, { actor, ...numbers });
    }
    return refused;
  }

  return {
    /**
     * Queues a mail, unless its recipient has reached a limit.
     * @returns why it is not sent, if so; the calling code decides whether the client may know
     * @throws HttpError 429 when a user has caused too much mail to unconfirmed addresses
     */
    async add(session: Session, mail: NewMail, cause: Cause): Promise<MailRefusal | undefined> {
      const refused = mail.isUnlimited === true ? undefined : await findRefusal(session, mail, cause);
      if (refused !== undefined) return refused;
      const { about, to, subject, text, html, attachments } = mail;
      const id = crypto.randomUUID();
      const sent = { messageId: `<${id}@catalog>`, to, subject, text, html, attachments };
      const payload: Payload = { mail: sent, about };
      const delivery = {
        queue: mailQueue,
        key: `mail:${id}`,
        payload: seal.close(JSON.stringify(payload)),
        at: cause.at,
      };
      await queue.add(session, delivery);
      return undefined;
    },
  };
}

/** @param onSent runs in the transaction that removes a sent mail from the queue */
export function createMailConsumer(
  mailer: Mailer,
  seal: Seal,
  onSent: (session: Transaction, about: Subject) => Promise<void>,
): Consumer {
  const read = (payload: string): Payload => {
    const text = seal.open(payload);
    if (text === undefined)
      throw new Error(
        'a queued mail was sealed with another secret: add that secret to JWT_PREVIOUS_SECRETS',
      );
    // Boundary: only `add` above seals mails.
    return JSON.parse(text) as Payload;
  };
  return {
    queue: mailQueue,
    kind: 'external',
    attemptMs,
    deliver: (payload, signal) => mailer.send(read(payload).mail, signal),
    async delivered(session, payload) {
      const { about } = read(payload);
      if (about !== undefined) await onSent(session, about);
    },
  };
}
