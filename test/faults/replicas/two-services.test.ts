/** Two services on one SQLite file: not supported, but it happens, during a restart or by mistake. */
import { expect, test } from 'bun:test';
import { createPlace, totalsOf, waitFor } from '../../cli/program.ts';
import { signIn } from '../../support/data/sign-in.ts';
import { readNames, startLoad } from '../load.ts';
import { conclude, isShort } from '../outcome.ts';

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const writes = isShort ? 400 : 5000;

test('two services on one file lose no write and show no stale data', async () => {
  const place = await createPlace('sqlite', {
    ...{ ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '100000000', LOG_LEVEL: 'error' },
  });
  const children = [];
  const urls: string[] = [];
  for (let count = 0; count < 2; count++) {
    const child = place.start(['serve', '--port', '0']);
    children.push(child);
    urls.push((await waitFor(child.stderr, /ready at (http:\S+)/))[1] ?? '');
  }
  const [one = '', other = ''] = urls;
  const token = await signIn(one, administrator.ADMIN_EMAIL);
  const headers = { Authorization: `Bearer ${token}` };
  const load = startLoad('both', {
    url: writer => (writer % 2 === 0 ? one : other),
    token: () => token,
    // A product that one service created, the other shows immediately: alone, and in a list it may have cached.
    async confirm(id, writer) {
      const from = writer % 2 === 0 ? other : one;
      const single = await fetch(`${from}/v1/products/${id}`, { headers });
      if (single.status !== 200) return `${single.status} from the other service`;
      const list = await fetch(`${from}/v1/products?sort=id&order=desc&perPage=1`, { headers });
      const { data } = (await list.json()) as { data: readonly { id: number }[] };
      return (data[0]?.id ?? 0) < id ? 'the other service has given an old list' : undefined;
    },
  });
  await load.acknowledge(writes);
  await load.stop();
  const { names, broken } = await readNames(other, token, 'both');
  for (const child of children) child.kill('SIGTERM');
  for (const child of children) expect(await child.exited).toBe(0);
  const { kept, counted } = await totalsOf(place);
  expect(kept).toEqual(counted);
  place.remove();
  const name = 'Two services on one file';
  const done = 'each creates, and reads at once what the other has created';
  conclude(
    { name, done, database: 'SQLite', rounds: 1 },
    { acknowledged: load.acknowledged, found: names, broken: [...load.broken, ...broken] },
  );
}, 300_000);
