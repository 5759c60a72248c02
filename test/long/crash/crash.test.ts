/**
 * kill -9, again and again, while customers place, pay and cancel orders, have invoices sent, request passwords and
 * change things: acknowledged writes are kept, transactions are complete or absent, and every promised mail arrives.
 * The message of a failed run names its seed: CRASH_SEED repeats it, and CRASH_KILLS sets the number of kills.
 */
import { expect, test } from 'bun:test';
import { random } from '../../../bench/load/random.ts';
import { claimMs } from '../../../src/events/attempts.ts';
import { createPlace } from '../../cli/program.ts';
import { letPass, queueIsEmpty } from '../../cli/queue.ts';
import { startSmtp } from '../../support/peers/smtp.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { password, signIn } from '../../support/service/service.ts';
import { everythingHolds } from './checks.ts';
import { type Client, type Ledger, runAdministrator, runCustomer } from './clients.ts';
import { endsOf, livesOf } from './lives.ts';

const kills = Number(process.env.CRASH_KILLS ?? 50);
const customers = 5;
const prices = [19.99, 0.1, 79.5];
/** Ten times what the test takes on an idle machine. */
const longest = 600_000;

const administrator = { email: 'admin@test.example', password: 'correct horse battery' };

async function post(url: string, path: string, token: string, body: object): Promise<{ id: number }> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: number };
}

async function people(url: string, admin: Client): Promise<Client[]> {
  return Promise.all(
    Array.from({ length: customers }, async (_, index) => {
      const email = `customer-${index}@people.example`;
      const user = { name: `Customer ${index}`, email, password };
      const { id } = await post(url, '/v1/users', admin.token, user);
      // Invoices are mailed to confirmed addresses only.
      await post(url, `/v1/users/${id}/verify`, admin.token, {});
      return { id, email, token: await signIn(url, email) };
    }),
  );
}

describeOnDatabases('the service on %s', kind => {
  test(
    `killed ${kills} times loses no write and applies none partly or twice`,
    async () => {
      const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
      const smtp = await startSmtp();
      const place = await createPlace(kind, {
        HOST: '127.0.0.1',
        ADMIN_EMAIL: administrator.email,
        ADMIN_PASSWORD: administrator.password,
        // Links must be the same in every life.
        BASE_URL: 'http://shop.example',
        RATE_LIMIT: '1000000',
        MAIL_LIMIT: '1000000',
        MAIL_LIMIT_UNCONFIRMED: '1000000',
        LOG_LEVEL: 'error',
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      });
      const lives = livesOf(place);
      const ledger: Ledger = { attempts: [], repeated: 0, replayed: 0, surprises: [] };
      let isDone = false;
      try {
        const { url } = await lives.start();
        const token = await signIn(url, administrator.email, administrator.password);
        const admin = { id: 1, email: administrator.email, token };
        const clients = await people(url, admin);
        const made = await Promise.all(
          prices.map(async (price, index) => {
            const { id } = await post(url, '/v1/products', token, { name: `Base ${index}`, price });
            return [id, Math.round(price * 100)] as const;
          }),
        );
        await lives.stop();

        smtp.onArrival = async ({ to: [address] }) => {
          await lives.reach('mail arrived');
          if (address?.startsWith('invited')) await lives.reach('invitation arrived');
          // The mail server sends its response after this function has returned.
          setImmediate(() => void lives.reach('mail answered'));
        };
        const options = { lives, ledger, seed, prices: new Map(made), isDone: () => isDone };
        const running = Promise.all([
          runAdministrator(options, admin),
          ...clients.map(client => runCustomer(options, client)),
        ]);
        await lives.run(endsOf(random(seed), kills));
        await letPass(place, claimMs);
        isDone = true;
        const last = await lives.start();
        await running;
        await queueIsEmpty(place);
        expect(ledger.surprises).toEqual([]);
        expect(Math.min(ledger.repeated, ledger.replayed)).toBeGreaterThan(0);
        await everythingHolds({
          place,
          kind,
          url: last.url,
          admin,
          clients,
          ledger,
          smtp,
          prices: new Map(made),
        });
        expect(await lives.stop()).toBe(0);
        place.remove();
      } catch (error) {
        throw new Error(`with CRASH_SEED=${seed}, in ${place.folder}`, { cause: error });
      } finally {
        isDone = true;
        await lives.stop();
        await smtp.die();
      }
    },
    longest,
  );
});
