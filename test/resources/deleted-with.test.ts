/** Rows that are deleted with their owner: each has its own event, ratings follow, and many block no request. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createSearchCheck } from '../../src/cli/check/search.ts';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { addPerson } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { password, signIn, startTestService, type TestService } from '../support/service/service.ts';

interface Event {
  readonly type: string;
  readonly resourceId: number;
  readonly actor: string;
  readonly before: { readonly body?: string; readonly rating?: unknown } | null;
  readonly after: { readonly rating?: unknown } | null;
}

describeOnDatabases('cascading deletions on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  /** A signed-in user for a single test. */
  const addUser = async (): Promise<{ readonly id: number; readonly as: Record<string, string> }> => {
    const email = `${crypto.randomUUID()}@shop.example`;
    const body = { name: 'Ada Leaving', email, role: 'user', password };
    const made = await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body });
    return { id: made.body.id, as: { Authorization: `Bearer ${await signIn(service.url, email)}` } };
  };

  const post = async (path: string, body: object, headers?: Record<string, string>): Promise<number> => {
    const sent = headers === undefined ? { as: 'admin' as const } : { headers };
    const made = await call(service, { method: 'POST', path, body, ...sent });
    expect(made.status).toBe(201);
    return made.body.id;
  };
  const remove = async (path: string) =>
    expect((await call(service, { method: 'DELETE', path, as: 'admin' })).status).toBe(204);
  const lastEvent = async (): Promise<number> =>
    (await call(service, { path: '/v1/events?limit=1&order=desc', as: 'admin' })).body.data[0].id;
  const since = async (id: number): Promise<Event[]> => {
    const all = await call(service, { path: '/v1/events?perPage=100&order=desc', as: 'admin' });
    return all.body.data.filter((event: { id: number }) => event.id > id).reverse();
  };
  const run = (query: ReturnType<typeof sql>) =>
    service.database.write(session => session.run(query.compile(service.database.build)));
  const count = async (query: ReturnType<typeof sql<{ n: number }>>) =>
    (await service.database.read.first(query.compile(service.database.build)))?.n;

  test('reviews are deleted with their product, and comments with their post', async () => {
    const { as } = await addUser();
    const product = await addProduct(service);
    const reviews = [
      await post(`${pathOf(product)}/reviews`, { rating: 5, body: 'one' }),
      await post(`${pathOf(product)}/reviews`, { rating: 2, body: 'two' }, as),
    ];
    const article = await post('/v1/posts', { title: 't', body: 'b' });
    const comments = [
      await post(`/v1/posts/${article}/comments`, { body: 'three' }),
      await post(`/v1/posts/${article}/comments`, { body: 'four' }, as),
    ];
    const before = await lastEvent();
    await remove(pathOf(product));
    await remove(`/v1/posts/${article}`);
    const events = await since(before);
    expect(events.map(({ type, resourceId, before }) => [type, resourceId, before?.body])).toEqual([
      ['review.deleted', reviews[0] ?? 0, 'one'],
      ['review.deleted', reviews[1] ?? 0, 'two'],
      ['product.deleted', product.id, undefined],
      ['comment.deleted', comments[0] ?? 0, 'three'],
      ['comment.deleted', comments[1] ?? 0, 'four'],
      ['post.deleted', article, 'b'],
    ]);
    expect(new Set(events.map(({ actor }) => actor)).size).toBe(1);
    expect(events.map(({ after }) => after)).toEqual(events.map(() => null));
  });

  test('an account’s reviews and comments are deleted with it, and ratings follow; a refused deletion leaves all', async () => {
    const { id: userId, as } = await addUser();
    const products = [await addProduct(service), await addProduct(service)];
    for (const product of products) {
      await post(`${pathOf(product)}/reviews`, { rating: 1, body: 'his' }, as);
      await post(`${pathOf(product)}/reviews`, { rating: 4, body: 'hers' });
    }
    const article = await post('/v1/posts', { title: 't', body: 'b' });
    await post(`/v1/posts/${article}/comments`, { body: 'his' }, as);
    await post(`/v1/posts/${article}/comments`, { body: 'hers' });
    const before = await lastEvent();
    const headers = { 'If-Match': '"another"' };
    const path = `/v1/users/${userId}`;
    expect((await call(service, { method: 'DELETE', path, as: 'admin', headers })).status).toBe(412);
    expect(await since(before)).toEqual([]);
    await remove(path);
    const events = await since(before);
    expect(events.map(({ type }) => type).sort()).toEqual(
      [
        ...['review.deleted', 'review.deleted', 'product.updated', 'product.updated'],
        ...['comment.deleted', 'user.deleted'],
      ].sort(),
    );
    for (const product of products) {
      const { body } = await call(service, { path: pathOf(product), as: 'user' });
      expect(body.rating).toEqual({ average: 4, count: 1 });
    }
  });

  test('a deleted user is no longer found by search, and other users still are', async () => {
    const [gone, stays] = [
      await addPerson(service, 'user', { name: 'Zephyrine Gone' }),
      await addPerson(service, 'user', { name: 'Zephyrine Staying' }),
    ];
    const replica = await service.replica();
    const found = async (query: string) => {
      const pages = [service, replica].map(async of => {
        const { body } = await call(of, { path: `/v1/search?q=${query}&type=user`, as: 'admin' });
        return [
          body.meta.total,
          body.data.map(({ id }: { id: number }) => id).sort((a: number, b: number) => a - b),
        ];
      });
      const [page, other] = await Promise.all(pages);
      expect(page).toEqual(other);
      return page;
    };
    expect(await found('zephyrine')).toEqual([2, [gone.id, stays.id]]);
    await remove(gone.path);
    expect(await found('zephyrine')).toEqual([1, [stays.id]]);
    expect((await found(encodeURIComponent(gone.email)))?.[1]).not.toContain(gone.id);
    // Other tests write product rows that are not in the index, so lines of `catalog check` about products are ignored.
    const wrong = await createSearchCheck(service.database).find(service.database.read);
    expect(wrong.filter(line => !line.startsWith('product '))).toEqual([]);
  });

  test('hundreds of reviews are deleted with their author, with events for reviews and products in blocks of 200', async () => {
    const { id: userId } = await addUser();
    const [start, many] = [await lastEvent(), 450];
    const { id: _, ...members } = await addProduct(service, { name: 'Rated' });
    const document = JSON.stringify({ ...members, rating: { average: 4, count: 2 } }).slice(1);
    await run(sql`insert into products (name, price, status, created_at, updated_at, document, rating_sum, rating_count)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(many)})
      select 'Rated', 1, 'active', 1, 1, ${sql.lit(document)}, 8, 2 from numbers`);
    // Later products have earlier reviews.
    await run(sql`insert into reviews (product_id, user_id, author_name, rating, body, created_at, updated_at)
      select id, ${sql.lit(userId)}, 'Ada Leaving', 3, name, 1, 1 from products
      where rating_sum = 8 order by id desc`);
    const reviews = await service.database.read.all(
      sql<{ id: number; product_id: number }>`select id, product_id from reviews
        where user_id = ${userId} order by product_id`.compile(service.database.build),
    );
    await remove(`/v1/users/${userId}`);
    const expected: [string, number][] = [];
    for (let from = 0; from < many; from += 200) {
      const block = reviews.slice(from, from + 200);
      for (const id of block.map(review => review.id).sort((a, b) => a - b))
        expected.push(['review.deleted', id]);
      for (const review of block) expected.push(['product.updated', review.product_id]);
    }
    const written = sql<{ type: string; resource_id: number }>`select type, resource_id from events
      where id > ${start} and type in ('review.deleted', 'product.updated') order by id`;
    const events = await service.database.read.all(written.compile(service.database.build));
    expect(events.map(event => [event.type, event.resource_id])).toEqual(expected);
    for (const { type, before, after } of await since(start)) {
      if (type === 'review.deleted') expect([before?.rating, after]).toEqual([3, null]);
      if (type !== 'product.updated') continue;
      expect([before?.rating, after?.rating]).toEqual([
        { average: 4, count: 2 },
        { average: 5, count: 1 },
      ]);
    }
    const { body } = await call(service, { path: `/v1/products/${reviews[0]?.product_id}`, as: 'user' });
    expect(body.rating).toEqual({ average: 5, count: 1 });
  });

  test('a deleted account leaves its many posts without a user and loses its todos, sessions and notifications; those of others stay', async () => {
    const [{ id }, other] = [await addUser(), await addUser()];
    const many = 1200;
    const numbers = sql`with recursive numbers (n) as (
      select 1 union all select n + 1 from numbers where n < ${sql.lit(many)})`;
    const add = async (user: number) => {
      await run(sql`insert into posts (title, body, author_id, author_name, user_id, created_at, updated_at)
        ${numbers} select 'Kept', 'b', ${sql.lit(user)}, 'Ada Leaving', ${sql.lit(user)}, 1, 1 from numbers`);
      await run(sql`insert into todos (user_id, title, done, created_at, updated_at)
        ${numbers} select ${sql.lit(user)}, 't', 0, 1, 1 from numbers`);
      await run(sql`insert into notifications (user_id, event_id, type, message, resource, resource_id, created_at)
        values (${sql.lit(user)}, 1, 'order.paid', 'for them alone', 'order', 1, 1)`);
    };
    await add(id);
    await add(other.id);
    await remove(`/v1/users/${id}`);
    const number = sql`select cast(count(*) as integer) as n from`;
    const counts = async (user: number) => [
      await count(sql`${number} posts where author_id = ${user} and user_id is null`),
      await count(sql`${number} posts where user_id = ${user}`),
      await count(sql`${number} todos where user_id = ${user}`),
      await count(sql`${number} sessions where user_id = ${user}`),
      await count(sql`${number} notifications where user_id = ${user}`),
    ];
    expect(await counts(id)).toEqual([many, 0, 0, 0, 0]);
    expect(await counts(other.id)).toEqual([0, many, many, 1, 1]);
    // Another test compares the search index with the stored rows.
    await run(sql`delete from posts where title = 'Kept'`);
  });
});

test('every cascade of the database follows events, or affects only resources without events', async () => {
  const service = await startTestService('sqlite');
  const query = sql<{ child: string; parent: string }>`select m.name as child, f."table" as parent
    from sqlite_master as m join pragma_foreign_key_list(m.name) as f
    where m.type = 'table' and f.on_delete = 'CASCADE'`;
  const rows = await service.database.read.all(query.compile(service.database.build));
  await service.stop();
  expect(rows.map(({ child, parent }) => `${child} with ${parent}`).sort()).toEqual([
    'address_tokens with users',
    'article_tags with articles',
    // The program deletes each of these before the cascade: see the tests above.
    'comments with posts',
    'comments with users',
    // Without events: what belongs to one reader, and what signs users in.
    'known_addresses with users',
    // Without events: which uploads a product shows.
    'media_uses with products',
    'notifications with users',
    // Orders are never deleted.
    'order_items with orders',
    'payments with orders',
    'reviews with products',
    'reviews with users',
    'sessions with users',
    'todos with users',
    'user_tokens with users',
  ]);
});
