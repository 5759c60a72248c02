/** Clients that request long responses and do not read them are limited; others, and changes, are not. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addKey } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { readHead } from '../../support/http/raw.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const articles = 32;
/** Six bytes each in JSON: together a page of 19 MB, more than the system buffers of an unread response. */
const body = '\u0001'.repeat(100_000);
const page = `/v1/articles?perPage=${articles}`;
/** As many of these pages as one caller may leave unread: 64 MiB. */
const allowed = 3;

describeOnDatabases('responses that nobody reads on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind, { RATE_LIMIT: '100000' });
    for (let number = 0; number < articles; number++) {
      const made = await call(service, {
        method: 'POST',
        path: '/v1/articles',
        as: 'editor',
        body: { title: `${number}`, body },
      });
      expect(made.status).toBe(201);
    }
  });
  afterAll(() => service.stop());

  const request = (headers: Readonly<Record<string, string>>, path = page) =>
    readHead(
      service.url,
      [
        `GET ${path} HTTP/1.1`,
        'Host: localhost',
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        ...['', ''],
      ].join('\r\n'),
    );

  test.each([
    { text: 'x'.repeat(90_000), isChunked: false },
    { text: '長'.repeat(90_000), isChunked: true },
  ])(
    '$text.length characters are sent in chunks only if they take more than 256 KiB: $isChunked',
    async ({ text, isChunked }) => {
      const made = await call(service, {
        method: 'POST',
        path: '/v1/articles',
        as: 'editor',
        body: { title: 'Long', body: text },
      });
      const path = `/v1/articles/${made.body.id}`;
      const read = await call(service, { path, as: 'editor', headers: { 'Accept-Encoding': 'identity' } });
      expect([read.body.body, read.headers.get('content-length') === null]).toEqual([text, isChunked]);
      expect((await call(service, { method: 'DELETE', path, as: 'editor' })).status).toBe(204);
    },
  );

  test('a caller who leaves them unread gets 429 until they are read or given up; nobody else does', async () => {
    const caller = { Authorization: `Bearer ${service.tokens.editor}` };
    const other = await addKey(service, 'content:read');
    const unread = [];
    for (let count = 0; count < allowed; count++) unread.push(await request(caller));
    expect(unread.map(({ status }) => status)).toEqual([200, 200, 200]);
    const refused = await call(service, { path: page, headers: caller });
    expect([refused.status, refused.body.error]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.body.message).toContain('55 MiB of earlier responses to you are still being sent');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Nine of the remaining ten MiB: there is no room for a single one of the articles.
    const last = await request(caller, '/v1/articles?perPage=15');
    expect(last.status).toBe(200);
    unread.push(last);
    expect((await call(service, { path: '/v1/articles?perPage=1', headers: caller })).status).toBe(429);
    // Short responses, those of other callers and those without a body are not affected.
    expect((await call(service, { path: '/v1/products', headers: caller })).status).toBe(200);
    expect((await call(service, { path: page, headers: other })).body.data).toHaveLength(articles);
    expect((await call(service, { method: 'HEAD', path: page, headers: caller })).status).toBe(200);
    // A change has been carried out when its response is refused, and the client would repeat it.
    const created = { method: 'POST', path: '/v1/articles', headers: caller, body: { title: 'Long', body } };
    expect((await call(service, created)).status).toBe(201);
    for (const { disconnect } of unread) disconnect();
    let read = await call(service, { path: page, headers: caller });
    while (read.status === 429) read = await call(service, { path: page, headers: caller });
    expect(read.body.data).toHaveLength(articles);
    // A caller who reads them may continue.
    for (let count = 0; count <= allowed; count++)
      expect((await call(service, { path: page, headers: caller })).status).toBe(200);
  });
});
