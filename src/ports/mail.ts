/** Mail as it leaves the service: through SMTP, or into files where there is no mail server. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { PermanentFailure } from '../events/dispatcher.ts';

interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  /** In base64. */
  readonly content: string;
}

export interface Mail {
  /** The same for every attempt to send this mail, so that a receiver can recognise a repetition. */
  readonly messageId: string;
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly Attachment[];
}

export interface Mailer {
  /**
   * @param signal ends the attempt and its connection
   * @throws PermanentFailure when the mail can never be delivered, anything else when it may be later
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * Of each step; what all steps together may take is limited by the signal. A server may take five minutes for its
 * greeting, and ten for the response to a message (RFC 5321 §4.5.3.2): one that has taken the message but was not waited
 * for gets it again.
 */
const timeouts = {
  // Up to the greeting, which is a part of it to the library; how long connecting alone may take, see `connectSoon`.
  connectionTimeout: 310_000,
  greetingTimeout: 300_000,
  socketTimeout: 600_000,
};
const connectMs = 5000;

/** A connection to the mail server, in a few seconds or not at all: the library would wait as long as for a greeting. */
function connectSoon(
  { host, port }: { readonly host: string; readonly port: number },
  done: (error: Error | null, made: { connection: Socket } | false) => void,
): void {
  const connection = connect({ host, port, autoSelectFamily: true });
  const timer = setTimeout(
    () => connection.destroy(new Error(`the mail server took no connection within ${connectMs} ms`)),
    connectMs,
  );
  const fail = (error: Error) => {
    clearTimeout(timer);
    done(error, false);
  };
  connection.once('error', fail);
  connection.once('connect', () => {
    clearTimeout(timer);
    connection.removeListener('error', fail);
    done(null, { connection });
  });
}

/**
 * Certificates are verified, with smtps:// as with STARTTLS, which is used wherever the server offers it. A
 * password goes over an encrypted connection only, unless the server is on this machine.
 * @param url `smtp://user:password@host:port` or `smtps://…`; @param from the sender, `Name <address>`
 */
function createSmtpMailer(url: string, from: string): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const address = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
  };
  const transport = createLazyTransport(({ createTransport }) =>
    createTransport({
      ...address,
      getSocket: (_, done) => connectSoon(address, done),
      secure,
      requireTLS: username !== '' && !secure && !isLoopback(hostname),
      ...(username === '' ? {} : { auth }),
      ...timeouts,
    }),
  );
  return {
    async send(mail, signal) {
      try {
        await (await transport.get()).sendMail({ ...toMessage(mail, from), signal });
      } catch (error) {
        throw isFinal(error)
          ? new PermanentFailure('the mail server refuses this mail', { cause: error })
          : error;
      }
    },
    close: transport.close,
  };
}

const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** @param folder made when it is missing; each mail becomes `<message id>.eml` in it */
function createFileMailer(folder: string, from: string): Mailer {
  const transport = createLazyTransport(({ createTransport }) =>
    createTransport({ streamTransport: true, buffer: true, newline: 'unix' }),
  );
  return {
    async send(mail) {
      const { message } = await (await transport.get()).sendMail(toMessage(mail, from));
      if (!Buffer.isBuffer(message)) throw new Error('the mail was not buffered');
      mkdirSync(folder, { recursive: true });
      const file = join(folder, `${mail.messageId.replaceAll(/[^\w.@-]/g, '')}.eml`);
      // Written under another name first: a program that watches the folder never sees half a mail.
      writeFileSync(`${file}.part`, message);
      renameSync(`${file}.part`, file);
    },
    close: transport.close,
  };
}

/** The library is loaded with the first mail: a start does not wait for it. */
function createLazyTransport<Transport extends { close(): void }>(
  make: (library: typeof import('nodemailer')) => Transport,
) {
  let made: Promise<Transport> | undefined;
  return {
    get(): Promise<Transport> {
      made ??= import('nodemailer').then(make);
      return made;
    },
    close: () => void made?.then(transport => transport.close()),
  };
}

function toMessage({ messageId, to, subject, text, html, attachments }: Mail, from: string) {
  return {
    // What a mail holds is in it: nothing is to be fetched for it.
    disableFileAccess: true,
    disableUrlAccess: true,
    messageId,
    from,
    to: { ...to, name: to.name.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() },
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

/** 5xx replies about the sender's own rights (RFC 4954 §6), not about the mail. */
const signInReplies = [530, 534, 535, 538];

/**
 * Whether no repetition helps: an address that is none, or a 5xx (RFC 5321 §4.2.1) to the recipient or the
 * message. One to the sign-in or the sender's address is the operator's to fix: the mail waits for that.
 */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('command' in error)) return false;
  if (error.code !== 'EENVELOPE' && error.code !== 'EMESSAGE') return false;
  // Refused by nodemailer itself, before anything was sent.
  if (!('responseCode' in error)) return error.command === 'API' || error.code === 'EMESSAGE';
  const reply = Number(error.responseCode);
  if (reply < 500 || signInReplies.includes(reply)) return false;
  // 552: the message is larger than the server takes.
  return error.command !== 'MAIL FROM' || reply === 552;
}

/** By SMTP where there is a server, otherwise into files. */
export function createMailer({ SMTP_URL, MAIL_FROM, DATA_DIR }: Config): Mailer {
  return SMTP_URL === undefined
    ? createFileMailer(join(DATA_DIR, 'outbox'), MAIL_FROM)
    : createSmtpMailer(SMTP_URL, MAIL_FROM);
}
