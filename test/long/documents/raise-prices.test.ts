/** The example and its typed client, run as a user runs them: against the real program, with a real quota. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createCatalog } from '../../../client/index.ts';
import { createPlace, type Place, productsOf, type Running, variantsOf, waitFor } from '../../cli/program.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { signIn, startTestService } from '../../support/service/service.ts';

const email = 'admin@test.example';
const password = 'correct horse battery';
const example = join(import.meta.dir, '..', '..', '..', 'examples', 'raise-prices.ts');
const lamps = 40;

describeOnDatabases('the example on %s', kind => {
  let place: Place;
  let service: Running;
  let url = '';
  beforeAll(async () => {
    const account = { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, HOST: '127.0.0.1' };
    place = await createPlace(kind, { ...account, RATE_LIMIT: '40', RATE_WINDOW: '3' });
    const lines = Array.from(
      { length: lamps },
      (_, index) => `{"name":"Lamp ${index}","price":${index}.5,"category":"lighting"}`,
    );
    const file = place.file('lamps.ndjson', [...lines, '{"name":"Chair","price":80}'].join('\n'));
    await place.runHere(['migrate']);
    expect((await place.runHere(['import', file])).status).toBe(0);
    service = place.start(['serve', '--port', '0']);
    url = (await waitFor(service.stderr, /ready at (http:\S+)/))[1] ?? '';
  });
  afterAll(async () => {
    service.kill('SIGTERM');
    await service.exited;
    place.remove();
  });

  test('raises every price of the category once, waiting when the quota is used up', async () => {
    const started = performance.now();
    const child = Bun.spawn([process.execPath, example, url, email, password, 'lighting', '10'], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ status: await child.exited, out }).toEqual({
      status: 0,
      out: `raised ${lamps} prices by 10 %\n`,
    });
    // At least 81 requests with a quota of 40 in 3 s, or 80 around the end of a window. The wait is announced first.
    expect(err).toMatch(
      /^40 products take 81 requests, and this key may send 40 in 3 s: it will wait .*\n(waiting \d s \(429\)\n)*$/,
    );
    // A machine slower than the quota never waits.
    const isSlower = performance.now() - started > (81 / 40) * 3000;
    expect(/^waiting/m.test(err) || isSlower).toBe(true);
    expect((await place.runHere(['keys', 'list'])).out).not.toContain('raise-prices');
    const prices = (await productsOf(place)).flatMap(({ name, price, category }) =>
      category === 'shades' ? [] : [[name, price]],
    );
    expect(prices).toEqual([
      ...Array.from({ length: lamps }, (_, index) => [
        `Lamp ${index}`,
        Math.round((index + 0.5) * 110) / 100,
      ]),
      ['Chair', 80],
    ]);
  });

  test('prints nothing and does not wait when the quota suffices', async () => {
    const child = Bun.spawn([process.execPath, example, url, email, password, 'lighting', '0', '1000'], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ status: await child.exited, out, err }).toEqual({
      status: 0,
      out: `raised ${lamps} prices by 0 %\n`,
      err: '',
    });
  });

  test('raises the prices of variants and of products, in whole units of their currency', async () => {
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    const priced = (...prices: (number | null)[]) =>
      prices.map((price, index) => ({ options: { Size: ['S', 'M'][index] }, price }));
    const lines = [
      // Raised like a product without variants, the second would cost 21.
      { name: 'Shade', price: 50, options, variants: priced(20, null) },
      { name: 'Yen', price: 5980, currency: 'JPY' },
      { name: 'Dinar', price: 12.345, currency: 'KWD' },
    ].map(line => JSON.stringify({ ...line, category: 'shades' }));
    expect((await place.runHere(['import', place.file('shades.ndjson', lines.join('\n'))])).status).toBe(0);
    const child = Bun.spawn([process.execPath, example, url, email, password, 'shades', '5', '1000'], {
      stdout: 'pipe',
    });
    expect(await child.stdout.text()).toBe('raised 4 prices by 5 %\n');
    const products = (await productsOf(place)).filter(({ category }) => category === 'shades');
    expect(products.map(({ name, price, basePrice }) => [name, price, basePrice])).toEqual([
      ['Shade', 21, 52.5],
      ['Yen', 6279, undefined],
      ['Dinar', 12.962, undefined],
    ]);
    expect((await variantsOf(place)).map(({ price }) => price)).toEqual([21, null]);
  });

  test('shows its usage, and why it cannot sign in', async () => {
    const run = async (...args: string[]) => {
      const child = Bun.spawn([process.execPath, example, ...args], { stdout: 'pipe', stderr: 'pipe' });
      return { err: await child.stderr.text(), status: await child.exited };
    };
    expect(await run()).toEqual({
      status: 2,
      err: 'usage: raise-prices URL EMAIL PASSWORD CATEGORY PERCENT [RATE]\n',
    });
    const refused = await run(url, email, 'not the password', 'lighting', '10');
    expect(refused).toEqual({
      status: 1,
      err: 'raise-prices: signing in was refused: 401 The e-mail address or password is wrong.\n',
    });
  });
});

describeOnDatabases('the client on %s', kind => {
  test('asks for a new access token when the old one has expired, once for many requests', async () => {
    const service = await startTestService(kind);
    try {
      const credentials = { email: 'editor@test.example', password };
      const catalog = createCatalog({ baseUrl: service.url, credentials });
      const body = { name: 'Lamp', price: 1 };
      expect((await catalog.POST('/v1/products', { body })).response.status).toBe(201);
      service.clock.advance(16 * 60 * 1000);
      const made = await Promise.all(Array.from({ length: 5 }, () => catalog.POST('/v1/products', { body })));
      expect(made.map(({ response }) => response.status)).toEqual([201, 201, 201, 201, 201]);
      const renewed = service.log().filter(line => JSON.stringify(line).includes('/v1/auth/refresh'));
      expect(renewed).toHaveLength(1);
    } finally {
      await service.stop();
    }
  });

  test('works with an API key', async () => {
    const service = await startTestService(kind);
    try {
      const token = await signIn(service.url, 'admin@test.example');
      const made = await fetch(`${service.url}/v1/keys`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'Client', scopes: ['products:read'] }),
      });
      const { key } = (await made.json()) as { key: string };
      const catalog = createCatalog({ baseUrl: service.url, credentials: { apiKey: key } });
      const listed = await catalog.GET('/v1/products');
      expect([listed.response.status, listed.data?.data]).toEqual([200, []]);
      const refused = await catalog.DELETE('/v1/products/{id}', { params: { path: { id: 1 } } });
      expect([refused.response.status, refused.error?.error]).toEqual([403, 'FORBIDDEN']);
    } finally {
      await service.stop();
    }
  });
});
