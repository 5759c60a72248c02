/** /metrics shows how many deliveries wait in the queues, how long they have waited, and how the others ended. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { record } from '../support/data/events.ts';
import { userIdOf } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('metrics on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const numbers = async () => {
    const { text } = await call(service, { path: '/metrics', headers: { Accept: 'text/plain' } });
    const lines = text.split('\n').filter(line => line.startsWith('catalog_deliver'));
    return Object.fromEntries(lines.map(line => line.split(' ')));
  };

  test('report how long the event loop was blocked since the last scrape', async () => {
    const longest = async () => {
      const { text } = await call(service, { path: '/metrics', headers: { Accept: 'text/plain' } });
      return Number(/^catalog_event_loop_delay_max_seconds (\S+)$/m.exec(text)?.[1]);
    };
    // Each service has its own measurement, which the end of another service does not stop.
    await (await service.replica()).stop();
    await longest();
    // The delay of a timer is measured: it becomes due during the first round, and runs in the second.
    const due = () => new Promise(resolve => setTimeout(resolve, 40));
    await due();
    const until = performance.now() + 200;
    while (performance.now() < until);
    await due();
    expect(await longest()).toBeGreaterThan(0.1);
  });

  test('count waiting, given-up, delivered and failed deliveries', async () => {
    const queues = [
      'category-search',
      'forgotten-passwords',
      'mail',
      'notifications',
      'order-timeouts',
      'payments',
    ];
    const names = [
      'deliveries_total',
      'delivery_failures_total',
      'deliveries_waiting',
      'deliveries_given_up',
    ];
    const all = [...names, 'deliveries_oldest_seconds'];
    expect(await numbers()).toEqual(
      Object.fromEntries(
        all.flatMap(name => queues.map(queue => [`catalog_${name}{queue="${queue}"}`, '0'])),
      ),
    );
    const customerId = await userIdOf(service, 'user');
    await record(service, { resource: 'order', resourceId: 1, action: 'paid', after: { customerId } });
    const { build, write } = service.database;
    const now = service.clock.now();
    await write(async session => {
      // Not encrypted with any secret: the payload can never be read, so the delivery fails.
      const mail = { queue: 'mail', key: 'mail:1', payload: 'garbage', attempts: 0, created_at: now };
      const insert = build.insertInto('deliveries').values([
        { ...mail, due_at: now, failed_at: null },
        { ...mail, key: 'mail:2', due_at: now, failed_at: now },
      ]);
      await session.run(insert.compile());
    });
    await service.settle();
    service.clock.advance(500);
    expect(await numbers()).toMatchObject({
      'catalog_deliveries_total{queue="notifications"}': '1',
      'catalog_deliveries_total{queue="mail"}': '0',
      'catalog_delivery_failures_total{queue="mail"}': '1',
      'catalog_deliveries_waiting{queue="mail"}': '1',
      'catalog_deliveries_given_up{queue="mail"}': '1',
      'catalog_deliveries_oldest_seconds{queue="mail"}': '0.5',
      'catalog_deliveries_waiting{queue="notifications"}': '0',
    });
  });

  // Such as prom2json, which names the version of the format, and not */*.
  test.each([
    'text/plain',
    'text/plain;version=0.0.4',
    'text/plain; version=0.0.4; charset=utf-8',
    'application/vnd.google.protobuf;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3',
  ])('are served to a program that accepts %s', async accept => {
    const { status, headers } = await call(service, { path: '/metrics', headers: { Accept: accept } });
    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  });

  test('are 406 for a program that accepts only another version of the format', async () => {
    const headers = { Accept: 'text/plain;version=1.0.0' };
    expect((await call(service, { path: '/metrics', headers })).status).toBe(406);
  });

  test('are served only to the machine itself without METRICS_TOKEN, and only to clients with the token otherwise', async () => {
    const read = (at: TestService, headers: Record<string, string> = {}) =>
      call(at, { path: '/metrics', headers: { Accept: 'text/plain', ...headers } });
    expect((await read(service)).status).toBe(200);
    await using trusting = await service.replica({ TRUST_PROXY: 'true' });
    const elsewhere = {
      'X-Forwarded-For': '127.0.0.1',
      'X-Real-IP': '127.0.0.1',
      Forwarded: '127.0.0.1',
      Via: '127.0.0.1',
      // A page of another server, in a browser on this machine, could read what CORS lets it read.
      Origin: 'https://pages.example',
    };
    for (const [header, value] of Object.entries(elsewhere)) {
      for (const at of [service, trusting]) {
        const refused = await read(at, { [header]: value });
        expect([header, refused.status]).toEqual([header, 401]);
        expect(refused.text).toContain('METRICS_TOKEN');
        expect(refused.text).not.toContain('catalog_');
      }
    }
    const token = 'a token of sixteen or more';
    await using guarded = await service.replica({ METRICS_TOKEN: token });
    const authorized = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': '203.0.113.1' };
    expect((await read(guarded)).status).toBe(401);
    for (const wrong of ['Bearer another', 'Bearer', `Basic ${token}`, token])
      expect([wrong, (await read(guarded, { Authorization: wrong })).status]).toEqual([wrong, 401]);
    expect((await read(guarded, authorized)).status).toBe(200);
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      const { status } = await read(guarded, { Authorization: `${scheme} ${token}` });
      expect([scheme, status]).toEqual([scheme, 200]);
    }
  });

  test('are refused with 401 to a request that names another host, as of a page whose name resolves to loopback', async () => {
    const read = async (host: string) =>
      (await fetch(`${service.url}/metrics`, { headers: { Host: host } })).status;
    for (const host of [
      'pages.example',
      'pages.example:3000',
      '127.0.0.1.pages.example',
      'localhost.example',
      '192.0.2.7',
    ])
      expect([host, await read(host)]).toEqual([host, 401]);
    for (const host of [
      'localhost',
      'LOCALHOST:3000',
      '127.0.0.1:9',
      '127.1.2.3',
      '[::1]:3000',
      '0.0.0.0:3000',
    ])
      expect([host, await read(host)]).toEqual([host, 200]);
  });

  test('are refused with 401 on an address of the machine other than loopback', async () => {
    const address = Object.values(networkInterfaces())
      .flatMap(addresses => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    // A machine without a network has no other address.
    if (address === undefined) return;
    await using open = await service.replica({ HOST: '0.0.0.0' });
    const response = await fetch(`http://${address}:${new URL(open.url).port}/metrics`);
    expect(response.status).toBe(401);
    expect((await fetch(`http://127.0.0.1:${new URL(open.url).port}/metrics`)).status).toBe(200);
  });
});
