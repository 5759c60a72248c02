/** Mails from the queue to a real SMTP server: what arrives, how often, and what becomes of failures. */
import { afterEach, describe, expect, test } from 'bun:test';
import { causedBy } from '../../src/events/outbox.ts';
import { createQueue } from '../../src/events/queue.ts';
import { mailLimits } from '../../src/mail/limits.ts';
import { createMails, type NewMail } from '../../src/mail/mails.ts';
import { createSeal } from '../../src/seal.ts';
import type { Database } from '../../src/storage/database.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { hasPostgres } from '../support/postgres.ts';
import { serviceSecret, startTestService, type TestService } from '../support/service.ts';
import { type SmtpOptions, type SmtpServer, startSmtp } from '../support/smtp.ts';

const password = 'p%40ss%3Aw%2Frd&secret';
const plain: NewMail = {
  to: { name: 'Ada', address: 'ada@shop.example' },
  subject: 'Hello',
  text: 'Text',
  html: '<p>Text</p>',
  attachments: [],
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function smtp(options?: SmtpOptions): Promise<SmtpServer> {
  const server = await startSmtp(options);
  cleanups.push(server.die);
  return server;
}

const urlOf = ({ port }: SmtpServer, scheme = 'smtp') => `${scheme}://127.0.0.1:${port}`;

async function serviceWith(kind: TestService['kind'], url: string, settings = {}): Promise<TestService> {
  const service = await startTestService(kind, { SMTP_URL: url, LOG_LEVEL: 'debug', ...settings });
  cleanups.push(service.stop);
  return service;
}

const mailsOf = (database: Database) =>
  createMails(
    createQueue(database),
    createSeal([serviceSecret], 'mail'),
    mailLimits(database, { MAIL_LIMIT: 1000, MAIL_LIMIT_UNCONFIRMED: 1000 }),
    { warn: () => undefined },
  );

/** Queues a mail in a transaction of its own, as the service does in those of its writes. */
async function queue({ database, clock }: TestService, mail: Partial<NewMail> = {}): Promise<void> {
  const mails = mailsOf(database);
  await database.write(session => mails.add(session, { ...plain, ...mail }, causedBy('test', clock.now())));
}

const deliveries = async ({ database }: TestService) => [
  ...(await database.read.all(database.build.selectFrom('deliveries').selectAll().orderBy('id').compile())),
];
const logged = (service: TestService, message: string) =>
  service.log().filter(line => line.message === message);
const final = 'delivery given up';
const temporary = 'delivery failed; it will be tried again';

describeOnDatabases('mail on %s', kind => {
  test('a mail arrives as it was written: both texts, attachments, any script', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server), { MAIL_FROM: 'Büro 北 <shop@shop.example>' });
    const bytes = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7) % 256);
    await queue(service, {
      to: { name: 'Žofie "Ž" O’Brien, 北京', address: 'zofie@shop.example' },
      subject: `Rechnung für ${'日本語 '.repeat(30)}🎉`,
      text: 'Grüße\n.\n..dots\nПривет',
      html: '<p>Grüße &amp; 🎉</p>',
      attachments: [
        {
          filename: 'Rechnung-ä.pdf',
          contentType: 'application/pdf',
          content: Buffer.from(bytes).toString('base64'),
        },
      ],
    });
    await service.settle();
    const [received, ...more] = server.received;
    expect(more).toEqual([]);
    expect(received?.from).toBe('shop@shop.example');
    expect(received?.to).toEqual(['zofie@shop.example']);
    const email = received?.email;
    expect(email?.from).toEqual({ name: 'Büro 北', address: 'shop@shop.example' });
    expect(email?.to).toEqual([{ name: 'Žofie "Ž" O’Brien, 北京', address: 'zofie@shop.example' }]);
    expect(email?.subject).toBe(`Rechnung für ${'日本語 '.repeat(30)}🎉`);
    expect(email?.text?.trimEnd()).toBe('Grüße\n.\n..dots\nПривет');
    expect(email?.html?.trimEnd()).toBe('<p>Grüße &amp; 🎉</p>');
    expect(email?.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    const [attachment] = email?.attachments ?? [];
    expect([attachment?.filename, attachment?.mimeType]).toEqual(['Rechnung-ä.pdf', 'application/pdf']);
    expect(new Uint8Array(attachment?.content as ArrayBuffer)).toEqual(bytes);
    // RFC 5321 §4.5.3.1.6 and RFC 5322 §2.1.1: short lines, ASCII headers.
    expect(received?.raw.split('\r\n').every(line => line.length <= 998)).toBe(true);
    expect(received?.raw.split('\r\n\r\n')[0]).toMatch(/^[\x20-\x7e\t\r\n]*$/);
    expect(await deliveries(service)).toEqual([]);
  });

  test('nothing that a client can write adds a header, a recipient or a part', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    const evil = 'x\r\nBcc: evil@evil.example\r\n\r\n<script>alert(1)</script>';
    await queue(service, {
      to: { name: evil, address: 'ada@shop.example' },
      subject: evil,
      attachments: [
        {
          filename: 'a"\r\nX-Evil: 1\r\n.pdf',
          contentType: 'application/pdf',
          content: '',
        },
      ],
    });
    await queue(service, { to: { name: 'x <evil@evil.example>, y', address: 'ada@shop.example' } });
    await service.settle();
    expect(server.received.map(({ to }) => to)).toEqual([['ada@shop.example'], ['ada@shop.example']]);
    for (const { raw, email } of server.received) {
      expect(raw).not.toMatch(/^(bcc|x-evil):/im);
      expect(email.bcc ?? []).toEqual([]);
      expect(email.to?.map(({ address }) => address)).toEqual(['ada@shop.example']);
      expect(email.text?.trimEnd()).toBe('Text');
    }
  });

  test.each(['ada@shop.example>\r\nRCPT TO:<evil@evil.example', 'no address', ''])(
    'an address that is none is given up at once: %j',
    async address => {
      const server = await smtp();
      const service = await serviceWith(kind, urlOf(server));
      await queue(service, { to: { name: 'Ada', address } });
      await queue(service);
      await service.settle();
      expect(server.received.map(({ to }) => to)).toEqual([['ada@shop.example']]);
      expect(logged(service, final)).toHaveLength(1);
      expect(await deliveries(service)).toMatchObject([{ attempts: 1, failed_at: service.clock.now() }]);
    },
  );

  test('a dead server is tried again, later each time; what was queued arrives when it is back', async () => {
    const server = await smtp();
    await server.die();
    const service = await serviceWith(kind, urlOf(server));
    await queue(service);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 14; attempt++) {
      await service.settle();
      const [waiting] = await deliveries(service);
      const pause = (waiting?.due_at ?? 0) - service.clock.now();
      pauses.push(pause / 1000);
      service.clock.advance(pause - 1);
      await service.settle();
      expect(await deliveries(service)).toEqual(waiting === undefined ? [] : [waiting]);
      service.clock.advance(1);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
    expect(logged(service, temporary)).toHaveLength(14);
    await server.revive();
    await service.settle();
    expect(server.received).toHaveLength(1);
    expect(await deliveries(service)).toEqual([]);
    expect(logged(service, final)).toEqual([]);
  });

  test('what was tried for five days is given up, kept and logged as an error', async () => {
    const server = await smtp();
    await server.die();
    const service = await serviceWith(kind, urlOf(server));
    const start = service.clock.now();
    await queue(service);
    while ((await deliveries(service))[0]?.failed_at === null) {
      await service.settle();
      const [waiting] = await deliveries(service);
      service.clock.advance(Math.max(0, (waiting?.due_at ?? 0) - service.clock.now()));
    }
    const days = (Number((await deliveries(service))[0]?.failed_at) - start) / 86_400_000;
    expect(days).toBeGreaterThan(4.5);
    expect(days).toBeLessThan(5.5);
    expect(logged(service, final)).toHaveLength(1);
    await server.revive();
    service.clock.advance(86_400_000);
    await service.settle();
    expect(server.attempts).toEqual([]);
  });

  test.each([
    ['RCPT', 550, final],
    ['DATA', 554, final],
    ['MAIL', 552, final],
    // The sender's address and rights are the operator's to fix: mails wait for that.
    ['MAIL', 550, temporary],
    ['MAIL', 530, temporary],
    ['RCPT', 530, temporary],
    ['MAIL', 451, temporary],
    ['RCPT', 450, temporary],
    ['DATA', 452, temporary],
  ] as const)('the response to %s is %i: %s', async (at, code, outcome) => {
    const server = await smtp({ mood: { kind: 'answers', at, code } });
    const service = await serviceWith(kind, urlOf(server));
    await queue(service);
    await service.settle();
    expect(logged(service, outcome)).toMatchObject([
      { level: outcome === final ? 'error' : 'warn', queue: 'mail', attempts: 1 },
    ]);
    server.mood = { kind: 'accepts' };
    service.clock.advance(86_400_000);
    await service.settle();
    expect(server.received).toHaveLength(outcome === final ? 0 : 1);
  });

  test('the message id is the same for every attempt, and another for every mail', async () => {
    const server = await smtp({ mood: { kind: 'answers', at: 'DATA', code: 451 } });
    const service = await serviceWith(kind, urlOf(server));
    const before = server.received.length;
    await queue(service);
    await queue(service);
    await service.settle();
    expect(server.received).toHaveLength(before);
    const sealed = (await deliveries(service)).map(({ payload }) => payload);
    const seal = createSeal([serviceSecret], 'mail');
    const queued = sealed.map(text => JSON.parse(seal.open(text) ?? '').mail.messageId as string);
    server.mood = { kind: 'accepts' };
    service.clock.advance(3000);
    await service.settle();
    const arrived = server.received.map(({ email }) => email.messageId);
    expect(arrived.sort()).toEqual(queued.sort());
    expect(new Set(arrived).size).toBe(2);
  });

  test('a connection cut in the middle of a mail is tried again', async () => {
    const server = await smtp({ mood: { kind: 'cuts' } });
    const service = await serviceWith(kind, urlOf(server));
    await queue(service, { text: 'long '.repeat(100_000) });
    await service.settle();
    expect(logged(service, temporary)).toHaveLength(1);
    server.mood = { kind: 'accepts' };
    service.clock.advance(1000);
    await service.settle();
    expect(server.received).toHaveLength(1);
  });

  test('a server that says nothing more does not hold up a stop; its mails are kept', async () => {
    const server = await smtp({ mood: { kind: 'hangs' } });
    const service = await serviceWith(kind, urlOf(server));
    const replica = await service.replica({ STOP_TIMEOUT: '1' });
    const all = server.hanging(8);
    // Each of the two has four under way at once.
    const mails = mailsOf(service.database);
    await service.database.write(async session => {
      for (let index = 0; index < 8; index++)
        await mails.add(session, plain, causedBy('test', service.clock.now()));
    });
    const settled = service.settle();
    void replica.settle();
    await all;
    const start = performance.now();
    await replica.stop();
    expect(performance.now() - start).toBeLessThan(5000);
    const attempts = (await deliveries(service)).map(row => row.attempts);
    expect(attempts.sort()).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    await server.die();
    await settled;
    server.mood = { kind: 'accepts' };
    await server.revive();
    service.clock.advance(5000);
    await service.settle();
    expect(new Set(server.received.map(({ email }) => email.messageId)).size).toBe(8);
    expect(server.received).toHaveLength(8);
  });

  test('what is rolled back sends nothing', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    const { database, clock } = service;
    const mails = mailsOf(database);
    const failed = database.write(async session => {
      await mails.add(session, plain, causedBy('test', clock.now()));
      throw new Error('undone');
    });
    await expect(failed).rejects.toThrow('undone');
    await service.settle();
    clock.advance(60_000);
    await service.settle();
    expect(server.attempts).toEqual([]);
  });

  test('signs in; the password is in no log, whatever goes wrong', async () => {
    const server = await smtp({ user: 'shop', password: decodeURIComponent(password) });
    const service = await serviceWith(kind, `smtp://shop:${password}@127.0.0.1:${server.port}`);
    await queue(service);
    await service.settle();
    expect(server.received.map(({ user }) => user)).toEqual(['shop']);
    const wrong = await serviceWith(kind, `smtp://shop:wrong-${password}@127.0.0.1:${server.port}`);
    await queue(wrong);
    await wrong.settle();
    // The sign-in is the operator's to fix: the mail waits.
    expect(logged(wrong, temporary)).toHaveLength(1);
    await server.die();
    wrong.clock.advance(1000);
    await wrong.settle();
    const logs = JSON.stringify([service.log(), wrong.log()]);
    for (const form of [password, decodeURIComponent(password)]) {
      expect(logs).not.toContain(form);
      expect(logs).not.toContain(Buffer.from(form).toString('base64'));
    }
  });
});

describe('encryption', () => {
  test.each([
    ['smtps', { secure: true }],
    ['smtp', { startTls: true }],
  ] as const)('%s to a server whose certificate nobody vouches for: nothing is sent', async (scheme, tls) => {
    const server = await smtp({ ...tls, user: 'shop', password: 'secret' });
    const service = await serviceWith('sqlite', `${scheme}://shop:secret@127.0.0.1:${server.port}`);
    await queue(service);
    await service.settle();
    expect([server.attempts, server.passwords]).toEqual([[], []]);
    expect(logged(service, temporary)).toMatchObject([
      { reason: expect.stringMatching(/certificate|self.signed/i) },
    ]);
  });

  test('a password is not sent in the clear to another machine', async () => {
    const server = await smtp({ user: 'shop', password: 'secret' });
    // Not spelled as a name of this machine, though it leads here.
    const service = await serviceWith('sqlite', `smtp://shop:secret@[::ffff:127.0.0.1]:${server.port}`);
    await queue(service);
    await service.settle();
    expect([server.attempts, server.passwords]).toEqual([[], []]);
    expect(logged(service, temporary)).toMatchObject([{ reason: expect.stringMatching(/TLS/) }]);
  });
});

test.skipIf(!hasPostgres)('two replicas that deliver at once send each mail once', async () => {
  const server = await smtp();
  const service = await serviceWith('postgresql', urlOf(server));
  const replica = await service.replica();
  for (let index = 0; index < 30; index++) await queue(service, { subject: `Mail ${index}` });
  await Promise.all([service.settle(), replica.settle(), service.settle(), replica.settle()]);
  await Promise.all([service.settle(), replica.settle()]);
  expect(server.received).toHaveLength(30);
  expect(new Set(server.received.map(({ email }) => email.messageId)).size).toBe(30);
  expect(new Set(server.received.map(({ email }) => email.subject)).size).toBe(30);
  expect(await deliveries(service)).toEqual([]);
});
