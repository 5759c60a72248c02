/** A mail arrives as it was written, at its recipient only, and over a trusted connection. */
import { describe, expect, onTestFinished, test } from 'bun:test';
import { createSeal } from '../../src/secrets/seal.ts';
import { call } from '../support/http/http.ts';
import { mailTo } from '../support/peers/mails.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { serviceSecret, startTestService } from '../support/service/service.ts';
import { deliveries, logged, queue, serviceWith, smtp, temporary, urlOf } from './sender.ts';

const password = 'p%40ss%3Aw%2Frd&secret';

describeOnDatabases('the content of mails on %s', kind => {
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

  test('without BASE_URL the link of a mail leads to the port that the service listens on', async () => {
    const service = await startTestService(kind, { PORT: '0' });
    onTestFinished(service.stop);
    const body = { name: 'Ada', email: 'ada@shop.example', role: 'user' };
    const made = await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body });
    expect(made.status).toBe(201);
    const { text = '' } = mailTo(await service.mails(), body.email);
    const { port } = new URL(service.url);
    expect(text).toContain(`\nhttp://localhost:${port}/password-reset?token=`);
  });

  test('control characters and line breaks in the name of a recipient become spaces', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    await queue(service, {
      to: { name: ' Ada\r\n\tBcc:\u0000 Winter\u0085ß\u2028 ', address: 'ada@shop.example' },
    });
    await service.settle();
    const [received] = server.received;
    expect(received?.email.to).toEqual([{ name: 'Ada Bcc: Winter ß', address: 'ada@shop.example' }]);
    expect(received?.raw).not.toMatch(/=0[0-9AD]|=E2=80=A8|=C2=85/);
  });

  test('text from clients adds no header, recipient or part', async () => {
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

  test('the message id is the same for every attempt, and different for every mail', async () => {
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

  test('the service signs in to the server, and no log contains the password', async () => {
    const server = await smtp({ user: 'shop', password: decodeURIComponent(password) });
    const service = await serviceWith(kind, `smtp://shop:${password}@127.0.0.1:${server.port}`);
    await queue(service);
    await service.settle();
    expect(server.received.map(({ user }) => user)).toEqual(['shop']);
    const wrong = await serviceWith(kind, `smtp://shop:wrong-${password}@127.0.0.1:${server.port}`);
    await queue(wrong);
    await wrong.settle();
    // The operator must fix the sign-in, so the mail waits.
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
  ] as const)('%s: nothing is sent to a server with an untrusted certificate', async (scheme, tls) => {
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
    // An address of this machine that does not look like one.
    const service = await serviceWith('sqlite', `smtp://shop:secret@[::ffff:127.0.0.1]:${server.port}`);
    await queue(service);
    await service.settle();
    expect([server.attempts, server.passwords]).toEqual([[], []]);
    expect(logged(service, temporary)).toMatchObject([{ reason: expect.stringMatching(/TLS/) }]);
  });
});
