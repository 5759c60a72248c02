/** A real SMTP server on a port of its own, which misbehaves as a test requires and keeps the mails that it accepts. */
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { freePort } from '../../../scripts/tests/postgresql.ts';

/** What the server does with incoming mails; `at` is the command concerned. */
type Mood =
  | { readonly kind: 'accepts' }
  | { readonly kind: 'answers'; readonly at: 'MAIL' | 'RCPT' | 'DATA'; readonly code: number }
  /** Falls silent once the message has arrived. */
  | { readonly kind: 'hangs' }
  /** Cuts the connection when half of the message has arrived. */
  | { readonly kind: 'cuts' };

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly email: Email;
  /** The message as it came, in Latin-1 so that each byte is one character. */
  readonly raw: string;
  readonly encrypted: boolean;
  readonly user: string | undefined;
}

export interface SmtpOptions {
  /** TLS from the first byte. */
  readonly secure?: boolean;
  /** Offers STARTTLS. */
  readonly startTls?: boolean;
  /** The certificate; by default smtp-server's own, which is expired and self-signed. */
  readonly tls?: Pick<TlsOptions, 'key' | 'cert'>;
  /** The credentials with which clients must sign in. */
  readonly user?: string;
  readonly password?: string;
  readonly mood?: Mood;
}

export interface SmtpServer {
  readonly port: number;
  /** The messages that the server has accepted, in order. */
  readonly received: Received[];
  /** The recipients of every attempt that got as far as naming one. */
  readonly attempts: string[];
  /** Passwords that clients sent. */
  readonly passwords: string[];
  mood: Mood;
  /** Awaited before the server greets a client. */
  onConnection: () => Promise<void> | void;
  /** Called when a message has arrived and been kept, and awaited before the server replies. */
  onArrival: (received: Received) => Promise<void> | void;
  /** Resolves when this many messages have arrived while the server hangs. */
  hanging(count: number): Promise<void>;
  /** Ends all connections and stops listening. */
  die(): Promise<void>;
  /** Listens again, on the same port. */
  revive(): Promise<void>;
}

export async function startSmtp(options: SmtpOptions = {}): Promise<SmtpServer> {
  const port = await freePort();
  let running: SMTPServer | undefined;
  let awaited = 0;
  let reached = () => {};
  const state: SmtpServer = {
    port,
    received: [],
    attempts: [],
    passwords: [],
    mood: options.mood ?? { kind: 'accepts' },
    onConnection: () => undefined,
    onArrival: () => undefined,
    hanging(count) {
      awaited = count;
      return new Promise(resolve => {
        reached = resolve;
      });
    },
    async die() {
      const dying = running;
      if (dying === undefined) return;
      running = undefined;
      for (const connection of dying.connections) socketOf(connection).destroy();
      await new Promise<void>(resolve => dying.close(resolve));
    },
    async revive() {
      running = create(options, state, () => {
        if (--awaited === 0) reached();
      });
      await new Promise<void>(resolve => running?.listen(port, '127.0.0.1', resolve));
    },
  };
  await state.revive();
  return state;
}

function create(options: SmtpOptions, state: SmtpServer, reachedHanging: () => void): SMTPServer {
  const refusalAt = (command: string) => {
    const { mood } = state;
    if (mood.kind !== 'answers' || mood.at !== command) return null;
    return Object.assign(new Error(`${mood.code < 500 ? 'not now' : 'never'}`), { responseCode: mood.code });
  };
  const disabled = [
    ...(options.user === undefined ? ['AUTH'] : []),
    ...(options.startTls === true ? [] : ['STARTTLS']),
  ];
  const server: SMTPServer = new SMTPServer({
    secure: options.secure === true,
    ...options.tls,
    logger: false,
    disabledCommands: disabled,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth({ username, password }, _, done) {
      state.passwords.push(String(password));
      const right = username === options.user && password === options.password;
      done(right ? null : new Error('Invalid username or password'), right ? { user: username } : {});
    },
    onConnect(_, done) {
      void Promise.resolve(state.onConnection()).then(() => done());
    },
    onMailFrom: (_, __, done) => done(refusalAt('MAIL')),
    onRcptTo({ address }, _, done) {
      state.attempts.push(address);
      done(refusalAt('RCPT'));
    },
    async onData(stream, session, done) {
      const chunks: Uint8Array[] = [];
      try {
        for await (const chunk of stream) {
          chunks.push(chunk);
          if (state.mood.kind === 'cuts') {
            for (const connection of server.connections) socketOf(connection).destroy();
            return;
          }
        }
      } catch {
        // The sender has gone: there is no client to reply to, and no message.
        return;
      }
      if (state.mood.kind === 'hangs') return reachedHanging();
      const refusal = refusalAt('DATA');
      if (refusal === null) {
        const received = await receivedOf(Buffer.concat(chunks), session);
        state.received.push(received);
        await state.onArrival(received);
      }
      done(refusal);
    },
  });
  // Clients that distrust the certificate end the connection, which is no error of the server.
  server.on('error', () => undefined);
  return server;
}

async function receivedOf(raw: Buffer, session: SMTPServerSession): Promise<Received> {
  const { envelope, secure, user } = session;
  return {
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    email: await PostalMime.parse(raw),
    raw: raw.toString('latin1'),
    encrypted: secure,
    user: typeof user === 'string' ? user : undefined,
  };
}

/** The library's types do not declare the socket. */
function socketOf(connection: object): Socket {
  return (connection as { _socket: Socket })._socket;
}
