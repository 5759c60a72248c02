/** Mails to a real SMTP server: the server, services that send to it, and queued mails. Each ends with its test. */
import { onTestFinished } from 'bun:test';
import { createCause } from '../../src/events/outbox.ts';
import { createQueue } from '../../src/events/queue.ts';
import { createMailLimits } from '../../src/mail/limits.ts';
import { createMails, type NewMail } from '../../src/mail/mails.ts';
import { createSeal } from '../../src/secrets/seal.ts';
import type { Database } from '../../src/storage/database.ts';
import { type SmtpOptions, type SmtpServer, startSmtp } from '../support/peers/smtp.ts';
import { serviceSecret, startTestService, type TestService } from '../support/service/service.ts';

export const plain: NewMail = {
  to: { name: 'Ada', address: 'ada@shop.example' },
  subject: 'Hello',
  text: 'Text',
  html: '<p>Text</p>',
  attachments: [],
};

export async function smtp(options?: SmtpOptions): Promise<SmtpServer> {
  const server = await startSmtp(options);
  onTestFinished(server.die);
  return server;
}

export const urlOf = ({ port }: SmtpServer, scheme = 'smtp') => `${scheme}://127.0.0.1:${port}`;

export async function serviceWith(
  kind: TestService['kind'],
  url: string,
  settings = {},
): Promise<TestService> {
  const service = await startTestService(kind, { SMTP_URL: url, LOG_LEVEL: 'debug', ...settings });
  onTestFinished(service.stop);
  return service;
}

export const mailsOf = (database: Database) =>
  createMails(
    createQueue(database),
    createSeal([serviceSecret], 'mail'),
    createMailLimits(database, { MAIL_LIMIT: 1000, MAIL_LIMIT_UNCONFIRMED: 1000 }),
    { warn: () => undefined },
  );

/** Queues a mail in a transaction of its own, as the service does within those of its writes. */
export async function queue({ database, clock }: TestService, mail: Partial<NewMail> = {}): Promise<void> {
  const mails = mailsOf(database);
  await database.write(session =>
    mails.add(session, { ...plain, ...mail }, createCause('test', clock.now())),
  );
}

export const deliveries = async ({ database }: TestService) => [
  ...(await database.read.all(database.build.selectFrom('deliveries').selectAll().orderBy('id').compile())),
];
export const logged = (service: TestService, message: string) =>
  service.log().filter(line => line.message === message);
export const final = 'delivery given up';
export const temporary = 'delivery failed; it will be retried';
