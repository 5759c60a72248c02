/** Mail and kill -9: the next life sends queued mail; mail that was accepted but not recorded is sent once more. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { claimMs } from '../../../src/events/attempts.ts';
import { createPlace, waitFor } from '../../cli/program.ts';
import { letPass, queueIsEmpty } from '../../cli/queue.ts';
import { type SmtpServer, startSmtp } from '../../support/peers/smtp.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { type DatabaseKind, signIn } from '../../support/service/service.ts';

// Each test starts several processes.
setDefaultTimeout(60_000);

const email = 'admin@test.example';
const secret = 'correct horse battery';
/** External deliveries in flight at once: see events/dispatcher.ts. */
const lanes = 4;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
type Answer = any;

/** A service with its mail server, and a paid order of the administrator. */
async function shop(kind: DatabaseKind) {
  const smtp = await startSmtp();
  cleanups.push(smtp.die);
  const place = await createPlace(kind, {
    HOST: '127.0.0.1',
    ADMIN_EMAIL: email,
    ADMIN_PASSWORD: secret,
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
  });
  cleanups.push(place.remove);

  const start = async () => {
    const child = place.start(['serve', '--port', '0']);
    const kill = () => {
      child.kill('SIGKILL');
      return child.exited;
    };
    cleanups.push(kill);
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const token = await signIn(url, email, secret);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const ask = async (method: string, path: string, body?: object) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${url}/v1${path}`, { method, headers, ...sent });
      const answer: Answer = await response.json();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
      return answer;
    };
    return { kill, ask };
  };

  const first = await start();
  const product = await first.ask('POST', '/products', { name: 'Lamp', price: 79.5 });
  const items = [{ productId: product.id, quantity: 2 }];
  const order = await first.ask('POST', '/users/1/orders', { items });
  await first.ask('POST', `/orders/${order.id}/payment`);
  await queueIsEmpty(place);
  return { smtp, place, first, start };
}

const idsOf = ({ received }: SmtpServer) => received.map(mail => mail.email.messageId ?? '');

describeOnDatabases('kill -9 and mail on %s', kind => {
  test('a queued mail is sent exactly once after the next start', async () => {
    const { smtp, place, first, start } = await shop(kind);
    const isFull = Promise.withResolvers<void>();
    // The mail server accepts these without confirming, so that all lanes wait.
    smtp.onArrival = () => {
      if (smtp.received.length === lanes) isFull.resolve();
      return new Promise(() => undefined);
    };
    for (let index = 0; index < lanes; index++) await first.ask('POST', '/users/1/password-reset');
    await isFull.promise;
    expect(await first.ask('POST', '/invoices/1/send')).toEqual({ status: 'queued' });
    await first.kill();
    const held = idsOf(smtp);
    expect(new Set(held).size).toBe(lanes);

    const isSent = Promise.withResolvers<void>();
    smtp.onArrival = () => isSent.resolve();
    const { ask } = await start();
    await isSent.promise;
    expect(smtp.received.at(-1)?.email.subject).toBe('Invoice INV-000001 from Catalog');
    // Wait until the mail is recorded, so that no claim of this life is left to expire.
    while ((await ask('GET', '/invoices/1')).status !== 'sent') await Bun.sleep(20);
    await letPass(place, claimMs);
    await queueIsEmpty(place);
    const ids = idsOf(smtp);
    // No server had accepted the invoice. The others were accepted and came twice, each with the same Message-ID.
    expect(ids).toBeArrayOfSize(2 * lanes + 1);
    expect(ids.slice(lanes + 1).sort()).toEqual(held.sort());
    expect(await ask('GET', '/invoices/1')).toMatchObject({ status: 'sent', version: 2 });
  });

  test('a mail that the server accepted just before the kill is sent again with its Message-ID', async () => {
    const { smtp, place, first, start } = await shop(kind);
    const isTaken = Promise.withResolvers<void>();
    smtp.onArrival = async () => {
      await first.kill();
      isTaken.resolve();
    };
    expect(await first.ask('POST', '/invoices/1/send')).toEqual({ status: 'queued' });
    await isTaken.promise;

    smtp.onArrival = () => undefined;
    await letPass(place, claimMs);
    const { ask } = await start();
    await queueIsEmpty(place);
    const [taken, again, ...more] = smtp.received;
    expect(more).toEqual([]);
    expect(again?.email.messageId).toBe(taken?.email.messageId ?? 'none');
    expect(again?.email.text).toBe(taken?.email.text ?? 'none');
    expect(again?.email.attachments).toEqual(taken?.email.attachments ?? []);
    // The invoice is marked once, and its reader is notified once.
    expect(await ask('GET', '/invoices/1')).toMatchObject({ status: 'sent', version: 2 });
    const told = (await ask('GET', '/notifications')).data.map(({ type }: { type: string }) => type);
    expect(told).toEqual(['order.paid', 'invoice.sent']);
  });
});
