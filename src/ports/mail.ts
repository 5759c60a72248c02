/** Mail as it leaves the service: through SMTP, or into files where there is no mail server. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { PermanentFailure } from '../events/dispatcher.ts';

export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  /** In base64. */
  readonly content: string;
}

export interface Mail {
  /** The same for every attempt to send this mail, so that a receiver can tell a repetition. */
  readonly messageId: string;
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly Attachment[];
}

export interface Mailer {
  /** @throws PermanentFailure when the mail can never be delivered, anything else when it may be later */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Within the time a delivery is claimed for (see dispatcher.ts), with room for the answer. */
const timeouts = { connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 10_000, dnsTimeout: 5000 };

/** @param url `smtp://user:password@host:port` or `smtps://…`; @param from the sender, `Name <address>` */
export function smtpMailer(url: string, from: string): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    ...timeouts,
  });
  return {
    async send(mail) {
      try {
        await transport.sendMail(messageOf(mail, from));
      } catch (error) {
        throw isFinal(error)
          ? new PermanentFailure('the mail server refuses this mail', { cause: error })
          : error;
      }
    },
    close: () => transport.close(),
  };
}

/** @param folder made when it is missing; each mail becomes `<message id>.eml` in it */
export function fileMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(mail) {
      const { message } = await transport.sendMail(messageOf(mail, from));
      if (!Buffer.isBuffer(message)) throw new Error('the mail was not buffered');
      mkdirSync(folder, { recursive: true });
      const file = join(folder, `${mail.messageId.replaceAll(/[^\w.@-]/g, '')}.eml`);
      // Written aside first: whoever watches the folder never sees half a mail.
      writeFileSync(`${file}.part`, message);
      renameSync(`${file}.part`, file);
    },
    close: () => transport.close(),
  };
}

function messageOf({ messageId, to, subject, text, html, attachments }: Mail, from: string) {
  return {
    messageId,
    from,
    to,
    subject,
    text,
    html,
    // RFC 3834: no answering machine is to reply.
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename,
      contentType,
      content,
      encoding: 'base64',
    })),
  };
}

/** A 5xx to the recipient or the message (RFC 5321 §4.2.1); one to the sign-in is the operator's to mend. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error) || !('code' in error)) return false;
  return Number(error.responseCode) >= 500 && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE');
}
