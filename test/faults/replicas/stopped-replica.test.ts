/**
 * A replica is stopped (SIGSTOP) while it holds the row from which invoices take their numbers. Compares how much the
 * other replica serves in that time with what it serves alone, in turns of the same length.
 */
import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { createPlace, type Running, waitFor } from '../../cli/program.ts';
import { signIn } from '../../support/data/sign-in.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { conclude, isShort, roundsOf, skipped } from '../outcome.ts';

const isPossible = hasPostgres && process.platform === 'linux';
if (!isPossible) skipped('a replica that stands still', 'needs PostgreSQL, and the signals of Linux');

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const rounds = roundsOf(5);
/** The length of a turn: longer than the server tolerates a silent transaction. */
const turnMs = isShort ? 2000 : 4000;
const readers = 6;
const payers = 4;
/** The least share of what the other replica serves alone; the machine may do other work between two turns. */
const minShare = 0.75;
const slowestRead = 2000;

interface Turns {
  reads: number;
  payments: number;
  slowest: number;
}
const none = (): Turns => ({ reads: 0, payments: 0, slowest: 0 });

describe.skipIf(!isPossible)('a replica that stands still', () => {
  test('in the middle of a payment does not keep another replica from serving', async () => {
    const place = await createPlace('postgresql', {
      ...{ ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '100000000', LOG_LEVEL: 'error' },
    });
    const children: Running[] = [];
    const admin = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
    try {
      const urls: string[] = [];
      for (let count = 0; count < 2; count++) {
        const child = place.start(['serve', '--port', '0']);
        children.push(child);
        urls.push((await waitFor(child.stderr, /ready at (http:\S+)/))[1] ?? '');
      }
      const [stopped] = children;
      if (stopped === undefined) throw new Error('two replicas were started');
      await compare(stopped, urls, admin);
    } finally {
      for (const child of children) child.kill('SIGKILL');
      await admin.close({ timeout: 0 });
      place.remove();
    }
  }, 120_000);
});

async function compare(stopped: Running, [stoppedUrl = '', url = '']: string[], admin: SQL): Promise<void> {
  const shop = await openShop(url, await signIn(url, administrator.ADMIN_EMAIL));
  /** The current turn; undefined between two turns. */
  let turn: Turns | undefined;
  let done = false;
  const reading = Array.from({ length: readers }, async () => {
    while (!done) {
      const start = performance.now();
      await shop.read();
      const took = performance.now() - start;
      if (turn === undefined) continue;
      turn.reads++;
      turn.slowest = Math.max(turn.slowest, took);
    }
  });
  const take = async (turns: Turns) => {
    turn = turns;
    const end = performance.now() + turnMs;
    const pay = async () => {
      while (performance.now() < end) if (await shop.pay(url)) turns.payments++;
    };
    await Promise.all([pay(), pay(), Bun.sleep(turnMs)]);
    turn = undefined;
  };

  const [alone, beside] = [none(), none()];
  for (let round = 0; round < rounds; round++) {
    await take(alone);
    let paying = true;
    const paid = Array.from({ length: payers }, async () => {
      while (paying) await shop.pay(stoppedUrl);
    });
    // Stopped at any moment, repeatedly, until it holds the row.
    for (;;) {
      stopped.kill('SIGSTOP');
      if ((await admin.unsafe(holder)).length > 0) break;
      stopped.kill('SIGCONT');
      await new Promise(resolve => setImmediate(resolve));
    }
    paying = false;
    await take(beside);
    stopped.kill('SIGCONT');
    await Promise.all(paid);
  }
  done = true;
  await Promise.all(reading);

  const share = beside.reads / alone.reads;
  console.log(
    `Replica stopped while it holds the invoice counter: the other served ${beside.reads.toLocaleString('en')} reads ` +
      `(${alone.reads.toLocaleString('en')} alone: ${Math.round(share * 100)} %), slowest ${Math.round(beside.slowest)} ms; ` +
      `${beside.payments} payments (${alone.payments} alone)`,
  );
  conclude(
    {
      name: 'Replica stopped, holding the invoice counter',
      done: 'SIGSTOP in the middle of a payment, SIGCONT after the turn; payments on both replicas',
      database: 'PostgreSQL',
      rounds,
    },
    await shop.evidence(),
  );
  expect(share).toBeGreaterThan(minShare);
  expect(beside.slowest).toBeLessThan(slowestRead);
  expect(beside.payments).toBeGreaterThan(0);
}

/** Transactions that have added to the counter and wait for their client. */
const holder = `select 1 from pg_stat_activity join pg_locks using (pid)
  where state = 'idle in transaction' and relation = 'counters'::regclass and mode = 'RowExclusiveLock'`;

/** One product and orders of it, each of which is paid once. */
async function openShop(url: string, token: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const broken: string[] = [];
  const acknowledged: number[] = [];
  async function ask<T>(
    method: string,
    address: string,
    body?: object,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(address, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Boundary: bodies of the service, as its document describes them.
    return { status: response.status, body: (await response.json()) as T };
  }
  const { id: me } = (await ask<{ id: number }>('GET', `${url}/v1/me`)).body;
  const product = (await ask<{ id: number }>('POST', `${url}/v1/products`, { name: 'Paid', price: 1 })).body
    .id;
  const items = [{ productId: product, quantity: 1 }];

  async function all<T>(collection: string): Promise<T[]> {
    type Page = { data: T[]; meta: { nextCursor: string | null } };
    const found: T[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body }: { body: Page } = await ask<Page>('GET', `${url}/v1/${collection}?limit=100${query}`);
      found.push(...body.data);
      cursor = body.meta.nextCursor;
    }
    return found;
  }

  return {
    async read(): Promise<void> {
      const { status } = await ask('GET', `${url}/v1/products/${product}`);
      if (status !== 200) broken.push(`a read: ${status}`);
    },
    /** @param at the replica that takes the payment @returns whether it succeeded */
    async pay(at: string): Promise<boolean> {
      const order = await ask<{ id: number }>('POST', `${url}/v1/users/${me}/orders`, { items });
      if (order.status !== 201) {
        if (order.status !== 503) broken.push(`an order: ${order.status}`);
        return false;
      }
      const { status } = await ask('POST', `${at}/v1/orders/${order.body.id}/payment`);
      if (status === 200) acknowledged.push(order.body.id);
      else if (status !== 503) broken.push(`the payment of order ${order.body.id}: ${status}`);
      return status === 200;
    },
    async evidence() {
      const invoices = await all<{ number: string; orderId: number }>('invoices');
      const numbers = invoices.map(({ number }) => Number(number.slice('INV-'.length))).sort((a, b) => a - b);
      const gap = numbers.findIndex((number, index) => number !== index + 1);
      if (gap >= 0) broken.push(`the numbers of invoices have a gap at ${gap + 1}`);
      return { acknowledged, found: invoices.map(({ orderId }) => orderId), broken };
    },
  };
}
