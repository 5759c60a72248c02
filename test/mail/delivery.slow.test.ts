/** Mails from the queue to a real SMTP server: how often they are tried, and how failures are handled. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCause } from '../../src/events/outbox.ts';
import { expectRejection } from '../support/http/rejection.ts';
import { type SmtpServer, startSmtp } from '../support/peers/smtp.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { hasPostgres } from '../support/service/postgres.ts';
import { startTestService, type TestService } from '../support/service/service.ts';
import {
  deliveries,
  final,
  logged,
  mailsOf,
  plain,
  queue,
  serviceWith,
  smtp,
  temporary,
  urlOf,
} from './sender.ts';

describeOnDatabases('mail on %s', kind => {
  test('mails to invalid addresses are given up at once', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    const addresses = ['ada@shop.example>\r\nRCPT TO:<evil@evil.example', 'no address', ''];
    for (const [index, address] of addresses.entries()) {
      await queue(service, { to: { name: 'Ada', address } });
      await queue(service);
      await service.settle();
      const count = index + 1;
      expect(server.received.map(({ to }) => to)).toEqual(Array(count).fill(['ada@shop.example']));
      expect(logged(service, final)).toHaveLength(count);
      const given = { attempts: 1, failed_at: service.clock.now() };
      expect(await deliveries(service)).toMatchObject(Array(count).fill(given));
    }
  });

  test('a dead server is tried again, later each time, and queued mails arrive when it is back', async () => {
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

  test('a server that stops responding does not delay a stop, and its mails are kept', async () => {
    const server = await smtp({ mood: { kind: 'hangs' } });
    const service = await serviceWith(kind, urlOf(server));
    await using replica = await service.replica({ STOP_TIMEOUT: '1' });
    const all = server.hanging(8);
    // Each of the two services sends four at once.
    const mails = mailsOf(service.database);
    await service.database.write(async session => {
      for (let index = 0; index < 8; index++)
        await mails.add(session, plain, createCause('test', service.clock.now()));
    });
    const settled = service.settle();
    void replica.settle();
    await all;
    const start = performance.now();
    await replica.stop();
    // Sooner than the timeout of connections that wait for the server.
    expect(performance.now() - start).toBeLessThan(9000);
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

  test('a transaction that is rolled back sends no mail', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    const { database, clock } = service;
    const mails = mailsOf(database);
    const failed = database.write(async session => {
      await mails.add(session, plain, createCause('test', clock.now()));
      throw new Error('undone');
    });
    await expectRejection(failed, 'undone');
    await service.settle();
    clock.advance(60_000);
    await service.settle();
    expect(server.attempts).toEqual([]);
  });
});

describeOnDatabases('mail that a server refuses on %s', kind => {
  let server: SmtpServer;
  let service: TestService;
  beforeAll(async () => {
    server = await startSmtp();
    service = await startTestService(kind, { SMTP_URL: urlOf(server) });
  });
  afterAll(async () => {
    await service.stop();
    await server.die();
  });

  test.each([
    ['RCPT', 550, final],
    ['DATA', 554, final],
    ['MAIL', 552, final],
    // The operator must fix the sender's address and rights, so mails wait.
    ['MAIL', 550, temporary],
    ['MAIL', 530, temporary],
    ['RCPT', 530, temporary],
    ['MAIL', 451, temporary],
    ['RCPT', 450, temporary],
    ['DATA', 452, temporary],
  ] as const)('the response to %s is %i: %s', async (at, code, outcome) => {
    const [lines, received] = [logged(service, outcome).length, server.received.length];
    server.mood = { kind: 'answers', at, code };
    await queue(service);
    await service.settle();
    expect(logged(service, outcome).slice(lines)).toMatchObject([
      { level: outcome === final ? 'error' : 'warn', queue: 'mail', attempts: 1 },
    ]);
    server.mood = { kind: 'accepts' };
    service.clock.advance(86_400_000);
    await service.settle();
    expect(server.received.length - received).toBe(outcome === final ? 0 : 1);
  });
});

test.skipIf(!hasPostgres)('two replicas that deliver at once send each mail once', async () => {
  const server = await smtp();
  const service = await serviceWith('postgresql', urlOf(server));
  await using replica = await service.replica();
  for (let index = 0; index < 30; index++) await queue(service, { subject: `Mail ${index}` });
  await Promise.all([service.settle(), replica.settle(), service.settle(), replica.settle()]);
  await Promise.all([service.settle(), replica.settle()]);
  expect(server.received).toHaveLength(30);
  expect(new Set(server.received.map(({ email }) => email.messageId)).size).toBe(30);
  expect(new Set(server.received.map(({ email }) => email.subject)).size).toBe(30);
  expect(await deliveries(service)).toEqual([]);
});
