/** Pages of very long events: complete, in order, and sent chunk by chunk. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const count = 60;
/** With these texts before and after, long events come to more than 16 MiB. */
const length = 200_000;
const isLong = (n: number) => n % 6 !== 0;

interface Shown {
  readonly actor: string;
  readonly requestId: string;
  readonly before: { readonly body: string };
  readonly after: { readonly body: string };
  readonly createdAt: string;
}

describeOnDatabases('very long events on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    const { build, write } = service.database;
    const text = JSON.stringify({ body: 'x'.repeat(length) });
    await write(async session => {
      for (let n = 1; n <= count; n++) {
        const document = isLong(n) ? text : '{"body":"short"}';
        const insert = sql`insert into events
            (type, resource, resource_id, actor, request_id, old_document, new_document, created_at)
          values ('thing.made', 'thing', 5, ${`user:${n}`}, ${`request ${n}`}, ${document}, ${document}, ${n * 1000})`;
        await session.run(insert.compile(build));
      }
    });
  });
  afterAll(() => service.stop());

  const expected = (n: number) => [`user:${n}`, `request ${n}`, isLong(n), new Date(n * 1000).toISOString()];
  const read = (method: string, query: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/v1/events?resource=thing&resourceId=5&perPage=100&${query}`, {
      method,
      headers: { Authorization: `Bearer ${service.tokens.admin}`, 'Accept-Encoding': 'identity', ...headers },
    });

  test.each([
    ['sort=id', -1],
    ['sort=createdAt&order=desc', count],
  ])('by %s', async (query, first) => {
    const response = await read('GET', query);
    const { data, meta }: { data: Shown[]; meta: unknown } = JSON.parse(await response.text());
    const sorted = Array.from({ length: count }, (_, index) => Math.abs(first - index));
    expect(
      data.map(({ actor, requestId, before, after, createdAt }) => [
        actor,
        requestId,
        before.body.length === length && after.body.length === length,
        createdAt,
      ]),
    ).toEqual(sorted.map(expected));
    expect(meta).toMatchObject({ total: count });
    // A response with a known length was copied as a whole.
    expect(response.headers.get('content-length')).toBeNull();
    const [tag, head] = [response.headers.get('etag') ?? '', await read('HEAD', query)];
    expect([head.status, head.headers.get('etag')]).toEqual([200, tag]);
    expect((await read('GET', query, { 'If-None-Match': tag })).status).toBe(304);
  });

  test('a client that stops reading leaves the service as it was', async () => {
    const controller = new AbortController();
    const response = await fetch(`${service.url}/v1/events?resource=thing&perPage=100`, {
      headers: { Authorization: `Bearer ${service.tokens.admin}` },
      signal: controller.signal,
    });
    await response.body?.getReader().read();
    controller.abort();
    expect((await call(service, { path: '/v1/events?resource=thing&perPage=1', as: 'admin' })).status).toBe(
      200,
    );
  });
});
