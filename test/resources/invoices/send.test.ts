/** Invoices by mail: queued by the request, delivered to a real SMTP server, and marked as sent once delivered. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { eventsOf } from '../../support/data/events.ts';
import { invoiced } from '../../support/data/invoices.ts';
import { addKey, addPerson, signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { readPdf } from '../../support/peers/pdf.ts';
import { type SmtpServer, startSmtp } from '../../support/peers/smtp.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

interface Sending {
  readonly service: TestService;
  readonly server: SmtpServer;
}

async function start(kind: TestService['kind']): Promise<Sending> {
  const server = await startSmtp();
  const service = await startTestService(kind, {
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    INVOICE_SELLER: 'Lamps <& More>',
  });
  return { service, server };
}

async function stop({ service, server }: Sending): Promise<void> {
  await service.stop();
  await server.die();
}

const send = (id: number, headers = {}) =>
  ({ method: 'POST', path: `/v1/invoices/${id}/send`, as: 'user', headers }) as const;
const read = async (service: TestService, id: number) =>
  (await call(service, { path: `/v1/invoices/${id}`, as: 'user' })).body;

describeOnDatabases('sending an invoice on %s', kind => {
  let service: TestService;
  let server: SmtpServer;
  beforeAll(async () => {
    ({ service, server } = await start(kind));
  });
  afterEach(() => {
    server.mood = { kind: 'accepts' };
    server.received.length = 0;
    server.attempts.length = 0;
  });
  afterAll(() => stop({ service, server }));

  test('mails it to the customer with the PDF attached, sets sentAt and writes an event', async () => {
    const invoice = await invoiced(service, 'user', [{ name: 'Lamp', price: 79.5, quantity: 2 }]);
    service.clock.advance(5000);
    await play(service, {
      name: 'send',
      ...send(invoice.id),
      status: 202,
      response: { status: 'queued' },
      responseHeaders: { 'Cache-Control': 'no-store' },
    });
    await service.settle();
    const [mail] = server.received;
    expect(server.received).toHaveLength(1);
    expect(mail?.to).toEqual(['user@test.example']);
    expect(mail?.email.to).toEqual([{ name: 'Test user', address: 'user@test.example' }]);
    expect(mail?.email.subject).toBe(`Invoice ${invoice.number} from Lamps <& More>`);
    for (const word of [invoice.number, 'EUR 159.00', 'Test user', 'Lamps <& More>'])
      expect(mail?.email.text).toContain(word);
    expect(mail?.email.html).toContain('<p>Lamps &lt;&amp; More&gt;</p>');
    const [attachment] = mail?.email.attachments ?? [];
    expect([attachment?.filename, attachment?.mimeType, attachment?.disposition]).toEqual([
      `${invoice.number}.pdf`,
      'application/pdf',
      'attachment',
    ]);
    const bytes = new Uint8Array(attachment?.content as ArrayBuffer);
    expect((await readPdf(bytes)).title).toBe(`Invoice ${invoice.number}`);
    const response = await fetch(`${service.url}/v1/invoices/${invoice.id}`, {
      headers: { Accept: 'application/pdf', Authorization: `Bearer ${service.tokens.user}` },
    });
    expect(await response.bytes()).toEqual(bytes);

    const sentAt = new Date(service.clock.now()).toISOString();
    const sent = { ...invoice, status: 'sent', sentAt, updatedAt: sentAt, version: 2 };
    expect(await read(service, invoice.id)).toEqual(sent);
    const { _links: _, ...after } = sent;
    const { _links: __, ...before } = invoice;
    const events = await eventsOf(service, 'invoice', invoice.id);
    expect(events).toEqual([
      { type: 'invoice.issued', actor: `user:${invoice.customerId}`, before: null, after: before },
      { type: 'invoice.sent', actor: 'mail', before, after },
    ]);
  });

  test('retries until the mail is delivered, and only then marks the invoice as sent', async () => {
    const invoice = await invoiced(service);
    await server.die();
    await call(service, send(invoice.id));
    for (let attempt = 0; attempt < 3; attempt++) {
      await service.settle();
      expect(await read(service, invoice.id)).toEqual(invoice);
      service.clock.advance(60_000);
    }
    await server.revive();
    await service.settle();
    expect(server.received).toHaveLength(1);
    expect((await read(service, invoice.id)).status).toBe('sent');
  });

  test('never marks the invoice as sent when the address is refused permanently', async () => {
    server.mood = { kind: 'answers', at: 'RCPT', code: 550 };
    const invoice = await invoiced(service);
    await call(service, send(invoice.id));
    await service.settle();
    service.clock.advance(600_000);
    await service.settle();
    expect(server.attempts).toHaveLength(1);
    expect(await read(service, invoice.id)).toEqual(invoice);
    expect(service.log().filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('each request sends it once more, except a repetition with the same Idempotency-Key', async () => {
    const invoice = await invoiced(service);
    const key = { 'Idempotency-Key': 'send-1' };
    const first = await call(service, send(invoice.id, key));
    const again = await call(service, send(invoice.id, key));
    expect([first.status, again.status, again.text]).toEqual([202, 202, first.text]);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    await service.settle();
    expect(server.received).toHaveLength(1);
    await call(service, send(invoice.id));
    await service.settle();
    expect(server.received).toHaveLength(2);
    expect(new Set(server.received.map(({ email }) => email.messageId)).size).toBe(2);
    expect(await read(service, invoice.id)).toMatchObject({ status: 'sent', version: 3 });
    expect((await eventsOf(service, 'invoice', invoice.id)).map(({ type }) => type)).toEqual([
      'invoice.issued',
      'invoice.sent',
      'invoice.sent',
    ]);
  });

  test('an address that the account no longer uses gets a notice, and no mail to confirm it', async () => {
    const person = await addPerson(service);
    const { headers } = person;
    const product = { name: 'Lamp', price: 1 };
    const made = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body: product });
    const body = { items: [{ productId: made.body.id, quantity: 1 }] };
    const order = await call(service, { method: 'POST', path: `${person.path}/orders`, headers, body });
    await call(service, { method: 'POST', path: `/v1/orders/${order.body.id}/payment`, headers });
    const listed = await call(service, { path: `/v1/invoices?orderId=${order.body.id}`, headers });
    const sent = async (headers: Readonly<Record<string, string>>) => {
      await service.settle();
      server.received.length = 0;
      const path = `/v1/invoices/${listed.body.data[0].id}/send`;
      expect((await call(service, { method: 'POST', path, headers })).status).toBe(202);
      await service.settle();
      return server.received;
    };
    const [unconfirmed] = await sent(headers);
    expect(unconfirmed?.email.text).toContain('Confirm this one');
    // The same address in another spelling.
    const spelled = person.email.toUpperCase();
    await call(service, { method: 'PATCH', path: person.path, as: 'admin', body: { email: spelled } });
    const [same] = await sent(headers);
    expect(same?.email.text).toContain('Confirm this one');
    const email = `new-${crypto.randomUUID()}@people.example`;
    await call(service, { method: 'PATCH', path: person.path, as: 'admin', body: { email } });
    const { accessToken } = (await signInAs(service, email)).body;
    const [former] = await sent({ Authorization: `Bearer ${accessToken}` });
    expect([former?.to, former?.email.attachments]).toEqual([[person.email], []]);
    expect(former?.email.text).toContain('no longer belongs to the account');
    expect(former?.email.text).not.toMatch(/confirm|forgot/);
    expect(former?.raw).not.toContain(email);
  });

  test('staff and keys with the write scope also send it to the customer', async () => {
    const invoice = await invoiced(service);
    const headers = await addKey(service, 'invoices:write');
    for (const who of [{ as: 'editor' }, { as: 'admin' }, { headers }] as const)
      expect(
        (await call(service, { method: 'POST', path: `/v1/invoices/${invoice.id}/send`, ...who })).status,
      ).toBe(202);
    await service.settle();
    expect(server.received.map(({ to }) => to)).toEqual(Array(3).fill(['user@test.example']));
  });
});
