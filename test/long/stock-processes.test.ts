/** A hundred pieces and two hundred buyers, at two processes of the program on one database. */
import { expect, test } from 'bun:test';
import { createPlace, type Running, waitFor } from '../cli/program.ts';
import { signIn } from '../support/data/sign-in.ts';
import { describeOnDatabases } from '../support/service/databases.ts';

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const settings = { ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '1000000', LOG_LEVEL: 'error' };
const [pieces, buyers] = [100, 200];

describeOnDatabases('two processes on %s', kind => {
  test('sell exactly the pieces in stock', async () => {
    const place = await createPlace(kind, settings);
    const children: Running[] = [];
    try {
      const urls: string[] = [];
      for (let count = 0; count < 2; count++) {
        const child = place.start(['serve', '--port', '0']);
        children.push(child);
        urls.push((await waitFor(child.stderr, /ready at (http:\S+)/))[1] ?? '');
      }
      await sellOut(urls);
    } finally {
      for (const child of children) child.kill('SIGKILL');
      for (const child of children) await child.exited;
      place.remove();
    }
  });
});

async function sellOut(urls: readonly string[]): Promise<void> {
  const [first = ''] = urls;
  const token = await signIn(first, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  async function call(path: string, body?: object, at = 0) {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${urls[at % urls.length]}/v1${path}`, { method, headers, ...sent });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
    return { status: response.status, body: (await response.json()) as any };
  }
  const lamp = { name: 'Lamp', price: 1, stock: { onHand: pieces } };
  const { id } = (await call('/products', lamp)).body;
  const me = (await call('/me')).body.id;
  const placed = await Promise.all(
    Array.from({ length: buyers }, (_, buyer) =>
      call(`/users/${me}/orders`, { items: [{ productId: id, quantity: 1 }] }, buyer),
    ),
  );
  const sold = placed.filter(({ status }) => status === 201);
  const refused = placed.filter(({ status, body }) => status === 409 && body.error === 'OUT_OF_STOCK');
  expect([sold.length, refused.length]).toEqual([pieces, buyers - pieces]);
  const ends = await Promise.all(
    sold.map(({ body }, index) =>
      call(`/orders/${body.id}/${index % 2 === 0 ? 'payment' : 'cancel'}`, {}, index),
    ),
  );
  expect(ends.map(({ status }) => status)).toEqual(sold.map(() => 200));
  for (const at of [0, 1]) {
    const { stock, available } = (await call(`/products/${id}`, undefined, at)).body;
    expect([stock.onHand, stock.reserved, available]).toEqual([pieces / 2, 0, true]);
  }
}
