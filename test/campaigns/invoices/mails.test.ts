/** Invoices that two replicas deliver at once. */
import { expect, test } from 'bun:test';
import { invoiced } from '../../support/data/invoices.ts';
import { call } from '../../support/http/http.ts';
import { startSmtp } from '../../support/peers/smtp.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const send = (id: number, headers = {}) =>
  ({ method: 'POST', path: `/v1/invoices/${id}/send`, as: 'user', headers }) as const;
const read = async (service: TestService, id: number) =>
  (await call(service, { path: `/v1/invoices/${id}`, as: 'user' })).body;

test.skipIf(!hasPostgres)(
  'two replicas that deliver twelve invoices at once send each once, and mark each once',
  async () => {
    const server = await startSmtp();
    const service = await startTestService('postgresql', {
      SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      INVOICE_SELLER: 'Lamps <& More>',
    });
    await using replica = await service.replica();
    const invoices: number[] = [];
    for (let count = 0; count < 12; count++) invoices.push((await invoiced(service)).id);
    await server.die();
    await Promise.all(invoices.map((id, index) => call(index % 2 === 0 ? service : replica, send(id))));
    await Promise.all([service.settle(), replica.settle()]);
    await server.revive();
    service.clock.advance(600_000);
    await Promise.all([service.settle(), replica.settle()]);
    await Promise.all([service.settle(), replica.settle()]);
    expect(server.received).toHaveLength(invoices.length);
    expect(new Set(server.received.map(({ email }) => email.messageId)).size).toBe(invoices.length);
    for (const id of invoices) expect(await read(service, id)).toMatchObject({ status: 'sent', version: 2 });
    await service.stop();
    await server.die();
  },
  60_000,
);
