/** Thousands of rows that are deleted with their owner block no request. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { addProduct } from '../../support/data/catalog.ts';
import { userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('cascading deletions on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const post = async (path: string, body: object, headers?: Record<string, string>): Promise<number> => {
    const sent = headers === undefined ? { as: 'admin' as const } : { headers };
    const made = await call(service, { method: 'POST', path, body, ...sent });
    expect(made.status).toBe(201);
    return made.body.id;
  };
  const remove = async (path: string) =>
    expect((await call(service, { method: 'DELETE', path, as: 'admin' })).status).toBe(204);
  const run = (query: ReturnType<typeof sql>) =>
    service.database.write(session => session.run(query.compile(service.database.build)));
  const count = async (query: ReturnType<typeof sql<{ n: number }>>) =>
    (await service.database.read.first(query.compile(service.database.build)))?.n;

  test('thousands of rows are deleted in one transaction that lets other requests run', async () => {
    const many = 5000;
    const article = await post('/v1/posts', { title: 't', body: 'b' });
    const numbers = sql`with recursive numbers (n) as (
      select 1 union all select n + 1 from numbers where n < ${sql.lit(many)})`;
    const author = await userIdOf(service, 'user');
    await run(sql`insert into comments (post_id, user_id, author_name, body, created_at, updated_at)
      ${numbers} select ${sql.lit(article)}, ${sql.lit(author)}, 'Test user', 'A comment.', 1, 1 from numbers`);
    const { id: _, ...members } = await addProduct(service, { name: 'Many' });
    const document = JSON.stringify({ ...members, rating: { average: 3, count: 1 } }).slice(1);
    await run(sql`insert into products (name, price, status, created_at, updated_at, document, rating_sum, rating_count)
      ${numbers} select 'Some', 1, 'active', 1, 1, ${sql.lit(document)}, 3, 1 from numbers where n <= 2000`);
    const person = { name: 'Ada Busy', email: 'busy@shop.example', role: 'user' };
    const busy = await post('/v1/users', person);
    await run(sql`insert into reviews (product_id, user_id, author_name, rating, body, created_at, updated_at)
      select id, ${sql.lit(busy)}, 'Ada Busy', 3, null, 1, 1 from products where name = 'Some'`);
    for (const path of [`/v1/posts/${article}`, `/v1/users/${busy}`]) {
      let deleted = false;
      const deletion = remove(path).finally(() => {
        deleted = true;
      });
      let served = 0;
      while (!deleted) {
        await (await fetch(`${service.url}/health`)).text();
        if (!deleted) served++;
      }
      await deletion;
      expect(served).toBeGreaterThan(1);
    }
    const events = (type: string) =>
      count(sql`select cast(count(*) as integer) as n from events where type = ${type} and created_at > 1`);
    expect(await events('comment.deleted')).toBeGreaterThanOrEqual(many);
    expect(await events('review.deleted')).toBeGreaterThanOrEqual(2000);
    const rated = sql<{ n: number }>`select cast(count(*) as integer) as n from products
      where name = 'Some' and (rating_count <> 0 or document like '%"average":%')`;
    expect(await count(rated)).toBe(0);
    expect(
      await count(sql`select cast(count(*) as integer) as n from comments where post_id = ${article}`),
    ).toBe(0);
  });
});
