/** No response and no log line of any operation repeats a credential, however the request spells it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from './support/data/catalog.ts';
import { addKey } from './support/data/people.ts';
import { contractAt, type Operation } from './support/http/contract.ts';
import { call } from './support/http/http.ts';
import { send } from './support/http/raw.ts';
import { requiredQuery, type Walk, walkOf, webhookSecret } from './support/http/walk.ts';
import { describeOnDatabases } from './support/service/databases.ts';
import { startTestService, type TestService } from './support/service/service.ts';

const operations = await (async () => {
  const service = await startTestService('sqlite');
  const contract = await contractAt(service.url);
  await service.stop();
  return contract.operations;
})();

/** A password that a client put into a URL. */
const typed = 'typed-into-the-wrong-field';
const encoded = (text: string) =>
  [...text].map(character => `%${character.charCodeAt(0).toString(16)}`).join('');

describeOnDatabases('credentials on %s', kind => {
  let service: TestService;
  let walk: Walk;
  let key: string;
  beforeAll(async () => {
    service = await startTestService(kind, { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
    const scopes = [...new Set(operations.flatMap(({ scope }) => scope ?? []))];
    ({ 'X-API-Key': key } = await addKey(service, ...scopes));
  });
  afterAll(() => service.stop());

  /** Every spelling in one query. A misspelled parameter probably holds a valid key. */
  const spellings = () =>
    [
      `api_key=${key}`,
      `api%5Fkey=${key}`,
      `%61pi_key=${encoded(key)}`,
      `API_KEY=${key}`,
      `apiKey=${key}`,
      `api-key=${key}`,
      `X-API-Key=${key}`,
      `x=${key}`,
      `${key}=`,
      key,
      `access_token=${service.tokens.user}`,
      `authorization=Bearer+${service.tokens.user}`,
      `password=${typed}`,
      `user.PassWord=${typed}`,
      `password[]=${typed}`,
      `%2570assword=${typed}`,
      `x=1;password=${typed}`,
      `x=of+${key}+embedded`,
      `to=${encodeURIComponent(`https://x.example/?api_key=${key}`)}`,
      `x=${encoded(encoded(key))}`,
      `perPage=7`,
    ].join('&');
  /** Expects no secret in the text, either as it is or percent-decoded. */
  const expectNone = (what: string, text: string) => {
    let read = text;
    for (let round = 0; round < 3; round++) {
      read = read.replaceAll(/%[\da-f]{2}/gi, code =>
        String.fromCharCode(Number.parseInt(code.slice(1), 16)),
      );
    }
    for (const secret of [key, service.tokens.user, typed])
      expect([what, read.includes(secret), text.includes(secret)]).toEqual([what, false, false]);
  };

  const names = operations.map(
    operation => [`${operation.method} ${operation.path}`, operation] as [string, Operation],
  );
  test.each(names)('%s repeats no credentials in its responses or logs', async (name, operation) => {
    const isRead = operation.method === 'GET';
    const path = await (isRead ? walk.keptPath(operation) : walk.existingPath(operation));
    const required = requiredQuery(operation).replace('?', '&');
    const target = `${path}?${spellings()}${required}`;
    const before = service.log().length;
    for (const [Accept, signedIn] of [
      ['application/json', true],
      ['application/hal+json', true],
      ['application/json', false],
      ['application/problem+json', false],
    ] as const) {
      const headers = { Accept, 'X-API-Key': key };
      const response = signedIn
        ? await walk.send(operation, path, { path: target, headers })
        : await call(service, { method: operation.method, path: target, headers });
      expectNone(name, `${JSON.stringify([...response.headers])} ${response.text}`);
      if (response.status === 200 && response.body?._links?.self?.href?.includes('?'))
        expect(response.body._links.self.href).toContain('perPage=7');
    }
    const lines = service.log().slice(before);
    expect(lines.filter(({ message }) => message === 'request').length).toBeGreaterThanOrEqual(4);
    expectNone(`${name}: log`, JSON.stringify(lines));
  });

  test('refusals of unknown paths, methods and hosts repeat no credentials', async () => {
    const before = service.log().length;
    for (const path of ['/v1/nothing', '/v1/me', '/nothing']) {
      const target = `${path}?${spellings()}`;
      for (const line of [`GET ${target}`, `DELETE ${target}`, `TRACE ${target}`])
        for (const host of ['shop.example', 'a b'])
          expectNone(
            line,
            (await send(service.url, [`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]))
              .text,
          );
    }
    expectNone('log', JSON.stringify(service.log().slice(before)));
  });

  test('credentials in unexpected places of paths, headers and bodies are not quoted', async () => {
    const before = service.log().length;
    const ask = async (what: string, request: Parameters<typeof call>[1]) => {
      const { headers, text } = await call(service, { as: 'admin', ...request });
      expectNone(what, `${JSON.stringify([...headers])} ${text}`);
    };
    for (const secret of [key, service.tokens.user]) {
      for (const path of [`/v1/products/${secret}`, `/${encoded(secret)}`, `/v1/x;password=${typed}`])
        await ask(path, { path });
      for (const name of ['Origin', 'Cookie', 'Accept', 'Prefer', 'Idempotency-Key'])
        await ask(name, { path: '/v1/me', headers: { [name]: `Bearer ${secret}` } });
      const named = await fetch(`${service.url}/v1/me`, { headers: { 'X-Request-ID': `Bearer ${secret}` } });
      expectNone('X-Request-ID', `${JSON.stringify([...named.headers])} ${await named.text()}`);
      const strict = { Prefer: 'handling=strict' };
      await ask('unknown parameter', { path: `/v1/products?${secret}=1`, headers: strict });
      for (const text of [`{"password":${secret}}`, `{"password":${typed}}`, `{"${secret}":1}`, secret]) {
        const body = new TextEncoder().encode(text);
        const headers = { ...strict, 'Content-Type': 'application/json' };
        await ask(text.slice(0, 12), { method: 'POST', path: '/v1/products', headers, body });
      }
      const body = [{ op: 'remove', path: `/${secret}` }];
      const headers = { 'Content-Type': 'application/json-patch+json' };
      await ask('a pointer', { method: 'PATCH', path: '/v1/users/1', headers, body });
    }
    expectNone('log', JSON.stringify(service.log().slice(before)));
  });

  test('a key in a percent-encoded parameter authenticates, and links leave it out', async () => {
    for (const name of ['api_key', 'api%5Fkey', '%61pi%5fkey']) {
      const path = `/v1/products?${name}=${key}&perPage=1&sort=price`;
      for (const Accept of ['application/json', 'application/hal+json']) {
        const { status, body } = await call(service, { path, headers: { Accept } });
        expect([name, status]).toEqual([name, 200]);
        const first = body.links?.first ?? body._links.first.href;
        expect(first).toBe(`${service.url}/v1/products?perPage=1&sort=price&page=1`);
      }
    }
  });

  test('links replace page parameters in any spelling', async () => {
    for (let number = 0; number < 3; number++) await addProduct(service);
    const list = async (query: string) =>
      (await call(service, { path: `/v1/products?${query}`, as: 'user' })).body.links;
    const followed = async (link: string) =>
      (await call(service, { path: link.slice(service.url.length), as: 'user' })).status;
    const links = await list('%70age=1&per%50age=1&st%61tus=active');
    expect(links.next).toBe(`${service.url}/v1/products?per%50age=1&st%61tus=active&page=2`);
    for (const query of ['%70age=1&per%50age=1', 'li%6Dit=1', 'limit=1&%63ursor=']) {
      const { next } = query.endsWith('=') ? await list('limit=1') : await list(query);
      expect([query, await followed(next)]).toEqual([query, 200]);
    }
  });
});
