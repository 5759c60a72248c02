/** The two of the ten risks (security.test.ts) that concern the service's own requests and the responses to them. */
import { expect, test } from 'bun:test';
import { addProduct } from './support/data/catalog.ts';
import { act, placeOrder } from './support/data/orders.ts';
import { addKey } from './support/data/people.ts';
import { call } from './support/http/http.ts';
import { webhookSecret } from './support/http/walk.ts';
import { startProvider } from './support/peers/weather-provider.ts';
import { describeOnDatabases } from './support/service/databases.ts';
import { startTestService } from './support/service/service.ts';

describeOnDatabases('outbound requests on %s', kind => {
  test('7 forged requests: text from clients never decides where the service sends requests', async () => {
    const provider = startProvider();
    const asked: string[] = [];
    const inside = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ url }) {
        asked.push(url);
        return Response.json({});
      },
    });
    const address = `127.0.0.1:${inside.port}`;
    const service = await startTestService(kind, { WEATHER_URL: provider.url, GEOCODING_URL: provider.url });
    const headers = await addKey(service, 'data:read');
    const cities = [
      `http://${address}/`,
      `//${address}/`,
      `@${address}/`,
      `x@${address}#`,
      `../../../${address}`,
      `x&url=http://${address}`,
    ];
    for (const city of cities) {
      const path = `/v1/data/weather?city=${encodeURIComponent(city)}`;
      expect((await call(service, { path, headers })).status).toBe(404);
    }
    await addProduct(service, { name: `http://${address}/`, description: `<img src="http://${address}/x">` });
    await service.settle();
    expect(new Set(provider.requests)).toEqual(new Set(['/v1/search']));
    expect(asked).toEqual([]);
    // No operation takes a URL to call: text that looks like one in a body is only stored.
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    const schemas = Object.entries(document.components.schemas as Record<string, object>);
    const taken = schemas.filter(([name]) => /^(Create|Replace|Patch|Bulk|Write)/.test(name));
    expect(taken.filter(([, schema]) => /"format":"(uri|url)"/.test(JSON.stringify(schema)))).toEqual([]);
    await service.stop();
    await provider.die();
    await inside.stop(true);
  });

  test('10 responses of other services: a redirect is not followed', async () => {
    const asked: string[] = [];
    const elsewhere = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ url }) {
        asked.push(url);
        const current = { time: '2026-01-15T09:15', temperature_2m: 1, weather_code: 0 };
        const made = { id: 'pi_1', status: 'succeeded', amount_received: 15_900, currency: 'eur' };
        return Response.json({ ...made, client_secret: null, current });
      },
    });
    const redirecting = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => Response.redirect(`http://127.0.0.1:${elsewhere.port}/inside`, 302),
    });
    const url = `http://127.0.0.1:${redirecting.port}`;
    const service = await startTestService(kind, {
      ...{ WEATHER_URL: url, GEOCODING_URL: url, STRIPE_URL: url },
      ...{ STRIPE_SECRET_KEY: 'sk_test_redirected', STRIPE_WEBHOOK_SECRET: webhookSecret },
    });
    const headers = await addKey(service, 'data:read');
    const response = await call(service, { path: '/v1/data/weather?city=Berlin', headers });
    expect([response.status, response.body.source]).toEqual([200, 'bundled']);
    const paying = await act(service, await placeOrder(service), 'payment');
    expect([paying.status, paying.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
    expect(asked).toEqual([]);
    await service.stop();
    await redirecting.stop(true);
    await elsewhere.stop(true);
  });
});
