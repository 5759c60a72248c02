/** Slow or silent clients and providers: the wait is bounded by seconds, and no other client waits. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { act, placeOrder, readOrder } from '../support/data/orders.ts';
import { call } from '../support/http/http.ts';
import { dripping, send } from '../support/http/raw.ts';
import { fakeStripe } from '../support/peers/stripe.ts';
import { startProvider } from '../support/peers/weather-provider.ts';
import { writesNothing } from '../support/service/contents.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

setDefaultTimeout(60_000);
const mebibyte = 1024 * 1024;

describeOnDatabases('slow peers on %s', kind => {
  test('a client that sends on slowly, or without an end, is cut off', async () => {
    await using service = await startTestService(kind);
    const head = (length: number) =>
      [
        'POST /v1/products HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${service.tokens.editor}`,
        'Content-Type: application/json',
        `Content-Length: ${length}`,
        '\r\n',
      ].join('\r\n');
    await writesNothing(service, async () => {
      const [drip, flood] = await Promise.all([
        dripping(service.url, head(90_000_000), ' ', 500),
        dripping(service.url, head(900_000_000), ' '.repeat(mebibyte), 0),
      ]);
      expect([drip.text.slice(0, 12), drip.seconds < 14]).toEqual(['HTTP/1.1 413', true]);
      expect([flood.text.slice(0, 12), flood.sent < 200 * mebibyte]).toEqual(['HTTP/1.1 413', true]);
    });
  });

  test('a client that waits for 100 (Continue) after Expect with capital letters gets 417', async () => {
    await using service = await startTestService(kind);
    await writesNothing(service, async () => {
      const authorization = `Authorization: Bearer ${service.tokens.editor}`;
      const headers = ['Host: x', authorization, 'Content-Type: application/json', 'Content-Length: 50'];
      const head = ['POST /v1/products HTTP/1.1', ...headers, 'Expect: 100-Continue', '', ''].join('\r\n');
      const refused = await send(service.url, [head]);
      expect([refused.status, refused.text.match(/^HTTP\/1\.1 /gm)?.length]).toEqual([417, 1]);
      expect(refused.text).toContain('"error":"EXPECTATION_FAILED"');
      expect(refused.text).toMatch(/^Connection: close\r$/im);
    });
  });

  test('Stripe: the request is 503 with Retry-After, and others are served meanwhile', async () => {
    const stripe = fakeStripe();
    await using service = await startTestService(kind, stripe.settings);
    const placed = await placeOrder(service);
    stripe.mood = 'slow';
    const slow = act(service, placed, 'payment');
    expect((await act(service, await placeOrder(service), 'cancel')).status).toBe(200);
    const response = await slow;
    expect([response.status, response.body.error, response.headers.get('Retry-After')]).toEqual([
      503,
      'PAYMENT_UNAVAILABLE',
      '5',
    ]);
    expect((await readOrder(service, placed)).body).toEqual(placed.order);
    await stripe.stop();
  });

  test('a weather provider that is silent: the last known observation, marked stale', async () => {
    const provider = startProvider();
    await using service = await startTestService(kind, {
      WEATHER_URL: provider.url,
      GEOCODING_URL: provider.url,
    });
    const ask = () => call(service, { path: '/v1/data/weather?city=Berlin', headers: { 'X-API-Key': key } });
    const scope = { name: 'Weather', scopes: ['data:read'] };
    const { key } = (await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body: scope }))
      .body;
    const observed = await ask();
    expect([observed.status, observed.body.stale]).toEqual([200, false]);
    provider.mood = 'silent';
    service.clock.advance(11 * 60_000);
    const response = await ask();
    expect([response.status, response.body]).toEqual([200, { ...observed.body, stale: true }]);
    provider.release();
    await provider.die();
  });
});
