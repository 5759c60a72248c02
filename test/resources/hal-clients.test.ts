/** Public HAL clients know only the service's address, and follow links from there to the items of an order. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createClient, type HalResource } from 'hal-rest-client';
import halfred from 'halfred';
import { bearerAuth, Client } from 'ketting';
import type { Role } from '../../src/http/access.ts';
import { placeOrder } from '../support/data/orders.ts';
import { call } from '../support/http/http.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

// halboy needs a runtime that it does not load itself. The imports run one after the other: static imports are not
// evaluated in order when another test file has already loaded one of them.
await import('regenerator-runtime/runtime');
const { Navigator } = await import('halboy');

const hal = 'application/hal+json';
interface Item {
  readonly productId: number;
  readonly quantity: number;
}

/** Returns the items of the first order in the list that the entry at `path` leads to. */
type Walk = (service: TestService, path: string) => Promise<Item[]>;

const headersFor = ({ tokens }: TestService) => ({ Accept: hal, Authorization: `Bearer ${tokens.admin}` });

const walks: Readonly<Record<string, Walk>> = {
  async ketting(service, path) {
    const client = new Client(service.url);
    client.use(bearerAuth(service.tokens.admin));
    const orders = await client.go(path).follow('orders', { perPage: '5' });
    const [first] = await orders.followAll('orders');
    if (first === undefined) throw new Error('no order');
    const items = await first.follow('items').followAll('items');
    return Promise.all(items.map(async item => (await item.get()).data));
  },

  async 'hal-rest-client'(service, path) {
    const client = createClient(service.url, { headers: headersFor(service) });
    const entry = await client.fetchResource(path);
    const orders: HalResource = await entry.link('orders').fetch({ perPage: 5 });
    const items: HalResource = await orders.prop('orders')[0].link('items').fetch();
    return items.prop('items').map((item: HalResource) => item.props);
  },

  async halboy(service, path) {
    const http = { headers: headersFor(service) };
    const entry = await Navigator.discover(`${service.url}${path}`, { http });
    const orders = await entry.get('orders', { perPage: 5 }, http);
    const [first] = orders.resource().getResource('orders');
    const items = await Navigator.resume(service.url, first).get('items', {}, http);
    return items
      .resource()
      .getResource('items')
      .map((item: { toObject(): Item }) => item.toObject());
  },

  async halfred(service, path) {
    const at = async (address: string) => {
      const response = await fetch(address, { headers: headersFor(service) });
      return halfred.parse(await response.json());
    };
    // halfred does not expand templates: this one is expanded with no variable set (RFC 6570).
    const to = (href: string) => at(href.replace(/\{\?[^}]*\}$/, ''));
    const orders = await to((await at(`${service.url}${path}`)).link('orders').href);
    const [first] = orders.embeddedArray('orders');
    return (await to(first.link('items').href)).embeddedArray('items');
  },
};

describe('HAL clients', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService('sqlite');
    await placeOrder(service, { quantity: 3 });
  });
  afterAll(() => service.stop());

  test.each(Object.keys(walks).flatMap(name => ['/', '/v1'].map(path => [name, path] as const)))(
    '%s walks from %s to the items of an order',
    async (name, path) => {
      const items = await walks[name]?.(service, path);
      expect(items).toMatchObject([{ quantity: 3 }]);
    },
  );

  test('the entry point links to every collection, and names the query parameters of each', async () => {
    const { paths } = (await call(service, { path: '/openapi.json' })).body;
    const collections = Object.keys(paths).filter(path => /^\/v1\/[^{]+$/.test(path) && paths[path].get);
    expect(collections.length).toBeGreaterThan(12);
    for (const path of ['/', '/v1']) {
      const { body } = await call(service, { path, headers: { Accept: hal } });
      expect(body._embedded).toEqual({});
      const links = Object.values<{ href: string; templated?: true; type?: string }>(body._links);
      for (const { href, templated } of links)
        expect([href, templated]).toEqual([href, href.includes('{') || undefined]);
      const plain = links.filter(({ templated }) => templated !== true);
      expect(plain.length).toBeGreaterThan(1);
      for (const { href, type } of plain) {
        const there = {
          path: href.slice(service.url.length),
          as: 'admin',
          headers: { Accept: hal },
        } as const;
        const { status } = await call(service, there);
        expect([href, status === 406]).toEqual([href, type !== undefined]);
        if (type === undefined) continue;
        const typed = await call(service, { ...there, headers: { Accept: type } });
        expect([href, typed.status, typed.headers.get('Content-Type')?.split(';')[0]]).toEqual([
          href,
          200,
          type,
        ]);
      }
      const addresses = links.map(({ href }) => href.replace(/\{\?.*/, ''));
      expect(addresses).toEqual(expect.arrayContaining(collections.map(own => `${service.url}${own}`)));
      expect(body._links.products.href).toMatch(/\/v1\/products\{\?id,status,.*sku,tag.*\}$/);
      expect(body._links.order).toEqual({ href: `${service.url}/v1/orders/{id}`, templated: true });
    }
    const { body } = await call(service, { path: '/v1' });
    expect(body).toMatchObject({ version: 'v1', contract: '1.0.0' });
    expect(Object.values(body.links).sort()).toEqual(collections.map(own => `${service.url}${own}`).sort());
  });

  test('every action that HAL links to succeeds for a client that accepts only HAL', async () => {
    const headers = { Accept: hal };
    const { path } = await placeOrder(service);
    const order = await call(service, { path, as: 'user', headers });
    const person = { name: 'Ada Winter', email: 'ada@winter.example', role: 'user' };
    const made = await call(service, {
      method: 'POST',
      path: '/v1/users',
      as: 'admin',
      headers,
      body: person,
    });
    const takeActions = async (links: Record<string, { href: string; method?: string }>, as: Role) => {
      const taken: unknown[] = [];
      for (const [relation, { href, method }] of Object.entries(links)) {
        if (method !== 'POST' || relation === 'cancel') continue;
        const { pathname } = new URL(href);
        const { status, headers: shown } = await call(service, { method, path: pathname, as, headers });
        taken.push([relation, status, shown.get('Content-Type')]);
      }
      return taken;
    };
    expect(await takeActions(order.body._links, 'user')).toEqual([['pay', 200, hal]]);
    expect(await takeActions(made.body._links, 'admin')).toEqual([
      ['passwordReset', 202, hal],
      ['verify', 200, hal],
    ]);
    const invoices = await call(service, { path: '/v1/invoices', as: 'user', headers });
    const [invoice] = invoices.body._embedded.invoices;
    expect(await takeActions(invoice._links, 'user')).toEqual([['send', 202, hal]]);
  });

  test('an order links to the list of its items as items, and embeds them as item', async () => {
    const { path } = await placeOrder(service);
    const { body } = await call(service, { path, as: 'user', headers: { Accept: hal } });
    expect(Object.keys(body._embedded)).toEqual(['customer', 'item']);
    const list = new URL(body._links.items.href).pathname;
    const listed = await call(service, { path: list, as: 'user', headers: { Accept: hal } });
    expect(listed.body._embedded.items).toEqual(body._embedded.item);
  });
});
