/** Outgoing mail: through SMTP, or into files if there is no mail server. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { PermanentFailure } from '../events/dispatcher.ts';
import { prepareLibrary } from './library.ts';

interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  /** In base64. */
  readonly content: string;
}

export interface Mail {
  /** The same for every attempt to send this mail, so that receivers can recognise duplicates. */
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
   * @throws PermanentFailure when the mail can never be delivered, any other error when it may be later
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * Timeouts of each step; the signal limits their sum. A server may take five minutes for its greeting, and ten for the
 * response to a message (RFC 5321 §4.5.3.2). After a shorter wait, a message the server had already accepted would be
 * sent again.
 */
const timeouts = {
  // Includes the greeting in this library; for the limit of connecting alone, see `connectSoon`.
  connectionTimeout: 310_000,
  greetingTimeout: 300_000,
  socketTimeout: 600_000,
};
const connectMs = 5000;

/** Connects to the mail server within seconds, or fails: the library would wait as long as for a greeting. */
function connectSoon(
  { host, port }: { readonly host: string; readonly port: number },
  done: (error: Error | null, made: { connection: Socket } | false) => void,
): void {
  const connection = connect({ host, port, autoSelectFamily: true });
  const timer = setTimeout(
    () => connection.destroy(new Error(`the mail server did not accept a connection within ${connectMs} ms`)),
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
 * Verifies certificates, both with smtps:// and with STARTTLS, which is used if the server offers it. A password is
 * only sent over an encrypted connection, unless the server is on this machine.
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
          ? new PermanentFailure('the mail server refused this mail', { cause: error })
          : error;
      }
    },
    close: transport.close,
  };
}

const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** @param folder created if missing; each mail becomes `<message id>.eml` in it */
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
      // Written under another name first: a program that watches the folder never sees a partial mail.
      writeFileSync(`${file}.part`, message);
      renameSync(`${file}.part`, file);
    },
    close: transport.close,
  };
}

/** Loads the library with the first mail, so that the start does not wait for it. */
function createLazyTransport<Transport extends { close(): void }>(
  make: (library: typeof import('nodemailer')) => Transport,
) {
  let made: Transport | undefined;
  return {
    get: prepareLibrary('nodemailer', async () => {
      made = make(await import('nodemailer'));
      return made;
    }),
    close: () => made?.close(),
  };
}

function toMessage({ messageId, to, subject, text, html, attachments }: Mail, from: string) {
  return {
    // A mail contains all its content: nothing needs to be fetched for it.
    disableFileAccess: true,
    disableUrlAccess: true,
    messageId,
    from,
    to: { ...to, name: to.name.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() },
    subject,
    text,
    html,
    // RFC 3834: automatic responders must not reply.
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
 * Whether a retry cannot help: the address is invalid, or the server rejects the recipient or the message with a 5xx
 * (RFC 5321 §4.2.1). If it rejects the sign-in or the sender's address, the operator must fix that, and the mail waits.
 */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('command' in error)) return false;
  if (error.code !== 'EENVELOPE' && error.code !== 'EMESSAGE') return false;
  // Refused by nodemailer itself, before anything was sent.
  if (!('responseCode' in error)) return error.command === 'API' || error.code === 'EMESSAGE';
  const reply = Number(error.responseCode);
  if (reply < 500 || signInReplies.includes(reply)) return false;
  // 552: the message exceeds the server's size limit.
  return error.command !== 'MAIL FROM' || reply === 552;
}

/** Sends by SMTP if a server is configured, otherwise into files. */
export function createMailer({ SMTP_URL, MAIL_FROM, DATA_DIR }: Config): Mailer {
  return SMTP_URL === undefined
    ? createFileMailer(join(DATA_DIR, 'outbox'), MAIL_FROM)
    : createSmtpMailer(SMTP_URL, MAIL_FROM);
}
