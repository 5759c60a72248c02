/** More definitions and synonyms than one statement reads: all of them apply. And how many there may be. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Two full statements, and a few more. */
const many = 45;
const numbers = Array.from({ length: many }, (_, index) => index);

const post = (service: TestService, path: string, body: object) =>
  call(service, { method: 'POST', path, as: 'admin', body });

describeOnDatabases('very many definitions on %s', kind => {
  test('all definitions follow a renamed category, and none is lost', async () => {
    await using service = await startTestService(kind);
    await addProduct(service, { category: 'Parts > Small' });
    for (const index of numbers) {
      const body = { key: `k${index}`, type: 'number', requiredIn: [index % 2 === 0 ? 'Parts' : 'Others'] };
      expect((await post(service, '/v1/attributes', body)).status).toBe(201);
    }
    const [category] = (await call(service, { path: '/v1/categories?path=Parts', as: 'admin' })).body.data;
    const path = `/v1/categories/${category.id}`;
    expect(
      (await call(service, { method: 'PATCH', path, as: 'admin', body: { name: 'Pieces' } })).status,
    ).toBe(200);
    const { body } = await call(service, { path: '/v1/attributes?perPage=100', as: 'admin' });
    expect(body.data.map(({ requiredIn }: { requiredIn: string[] }) => requiredIn)).toEqual(
      numbers.map(index => [index % 2 === 0 ? 'Pieces' : 'Others']),
    );
    const refused = await post(service, '/v1/products', { name: 'A', price: 1, category: 'Pieces' });
    expect(refused.body.details.map(({ field }: { field: string }) => field)).toEqual(
      numbers.filter(index => index % 2 === 0).map(index => `attributes.k${index}`),
    );
  });

  test('a search uses all groups of synonyms', async () => {
    await using service = await startTestService(kind);
    const product = await addProduct(service, { name: 'Lamp' });
    for (const index of numbers)
      await post(service, '/v1/search/synonyms', { words: ['lamp', `light${index} thing`] });
    for (const index of [0, 19, 20, 21, 44]) {
      const { body } = await call(service, { path: `/v1/search?q=light${index}%20things`, as: 'user' });
      expect([index, body.data[0]?.url]).toEqual([index, `${service.url}${pathOf(product)}`]);
    }
  });

  test.each([
    { path: '/v1/attributes', body: { key: 'k', type: 'text' }, limit: 1000, table: 'attributes' },
    { path: '/v1/search/synonyms', body: { words: ['a', 'b'] }, limit: 5000, table: 'search_synonyms' },
  ])('of $path there may be $limit', async ({ path, body, limit, table }) => {
    await using service = await startTestService(kind);
    expect((await post(service, path, body)).status).toBe(201);
    const columns = table === 'attributes' ? ['label', 'type', 'document'] : ['document'];
    const copied = sql.raw(['created_at', 'updated_at', ...columns].join(', '));
    await service.database.write(async session => {
      const run = (made: number, round: number) => {
        const key = table === 'attributes' ? [sql`key, `, sql`key || ${`_${round}`}, `] : [sql``, sql``];
        const statement = sql`insert into ${sql.table(table)} (${key[0]}${copied})
          select ${key[1]}${copied} from ${sql.table(table)} limit ${limit - 1 - made}`;
        return session.run(statement.compile(service.database.build));
      };
      for (let made = 1, round = 0; made < limit - 1; made *= 2, round++) await run(made, round);
    });
    const replica = kind === 'sqlite' ? service : await service.replica();
    for (let round = 0; round < 6; round++) {
      const created = await Promise.all(
        [service, replica, service, replica].map((at, index) =>
          post(at, path, { ...body, key: `l${index}` }),
        ),
      );
      expect(created.map(({ status, body }) => body.error ?? status).sort()).toEqual([
        201,
        ...Array(3).fill('LIMIT_REACHED'),
      ]);
      const last = created.find(({ status }) => status === 201)?.body.id;
      if (round < 5) await call(service, { method: 'DELETE', path: `${path}/${last}`, as: 'admin' });
    }
    const { meta } = (await call(service, { path, as: 'admin' })).body;
    expect(meta.total).toBe(limit);
  });
});
