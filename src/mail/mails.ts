/**
 * Mail is queued by the transaction that makes it necessary, and sent after the commit (events/dispatcher.ts):
 * none is sent for what was rolled back, and none is lost. Each arrives at least once: killed between the mail
 * server's yes and the note of it, the service sends the mail again with the same Message-ID, by which mail
 * programs tell a repetition. What it says is sealed, since it may hold tokens.
 */

import type { Consumer } from '../events/dispatcher.ts';
import type { Cause } from '../events/outbox.ts';
import type { Queue } from '../events/queue.ts';
import type { Mail, Mailer } from '../ports/mail.ts';
import type { Seal } from '../seal.ts';
import type { Session, Transaction } from '../storage/database.ts';

/** What a mail is about, for those who are to know that it has been sent. */
export interface Subject {
  readonly resource: string;
  readonly resourceId: number;
}

export interface NewMail extends Omit<Mail, 'messageId'> {
  /** Told to `onSent` when the mail has gone out. */
  readonly about?: Subject;
}

export interface Mails {
  add(session: Session, mail: NewMail, cause: Cause): Promise<void>;
}

export const mailQueue = 'mail';

interface Payload {
  readonly mail: Mail;
  readonly about: Subject | undefined;
}

export function createMails(queue: Queue, seal: Seal): Mails {
  return {
    async add(session, { about, ...mail }, { at }) {
      const id = crypto.randomUUID();
      const payload: Payload = { mail: { messageId: `<${id}@catalog>`, ...mail }, about };
      const delivery = {
        queue: mailQueue,
        key: `mail:${id}`,
        payload: seal.close(JSON.stringify(payload)),
        at,
      };
      await queue.add(session, delivery);
    },
  };
}

/** @param onSent runs in the transaction that takes a mail out of the queue */
export function mailConsumer(
  mailer: Mailer,
  seal: Seal,
  onSent: (session: Transaction, about: Subject) => Promise<void>,
): Consumer {
  const read = (payload: string): Payload => {
    const text = seal.open(payload);
    if (text === undefined)
      throw new Error('a queued mail was sealed with a secret that is not known any more');
    // Boundary: only `add` above seals mails.
    return JSON.parse(text) as Payload;
  };
  return {
    queue: mailQueue,
    kind: 'external',
    deliver: (payload, signal) => mailer.send(read(payload).mail, signal),
    async delivered(session, payload) {
      const { about } = read(payload);
      if (about !== undefined) await onSent(session, about);
    },
  };
}
