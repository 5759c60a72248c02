/** Following the audit trail by cursor while transactions overlap: no order and no total misses an event. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

interface Listed {
  readonly data: readonly { readonly id: number; readonly type: string }[];
  readonly meta: { readonly total?: number; readonly nextCursor: string | null };
}

describe.skipIf(!hasPostgres)('events followed on postgresql', () => {
  let service: TestService;
  let other: SQL;
  // Each test begins with few events, so that one page holds them.
  beforeEach(async () => {
    const url = await createDatabase();
    service = await startTestService('postgresql', { DATABASE_URL: url });
    other = new SQL(url, { max: 2 });
  });
  afterEach(async () => {
    await other.close();
    await service.stop();
  });

  const list = async (query: string): Promise<Listed> =>
    (await call(service, { path: `/v1/events?${query}`, as: 'admin' })).body;

  /** Reads all ids from a cursor to the end. @returns them, and the cursor of the last page */
  async function follow(cursor: string | undefined) {
    const ids: number[] = [];
    for (let at = cursor; ; ) {
      const { data, meta } = await list(`limit=3${at === undefined ? '' : `&cursor=${at}`}`);
      ids.push(...data.map(({ id }) => id));
      if (meta.nextCursor === null) return { ids, cursor: at };
      at = meta.nextCursor;
    }
  }

  /** Runs the work while another transaction has recorded an event, and commits that transaction afterwards. */
  async function whileAnEventIsHeld(work: () => Promise<void>) {
    const recorded = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = other.begin(async tx => {
      await tx`insert into events (type, resource, resource_id, actor, created_at)
        values ('product.updated', 'product', 1, 'user:1', ${Date.now()})`;
      recorded.resolve();
      await release.promise;
    });
    await recorded.promise;
    try {
      await work();
    } finally {
      release.resolve();
      await holding;
    }
  }

  test('a follower does not miss an event that is committed late', async () => {
    await addProduct(service);
    await addProduct(service);
    const user = await userIdOf(service, 'user');
    const before = await follow(undefined);
    const total = (await list('perPage=1')).meta.total ?? 0;
    expect(before.ids).toHaveLength(total);
    await whileAnEventIsHeld(async () => {
      const body = { tags: ['changed'] };
      const early = await call(service, { method: 'PATCH', path: `/v1/users/${user}`, as: 'admin', body });
      expect(early.status).toBe(200);
      // The later event has a higher id and is committed, but no order, filter or total includes it yet.
      const meanwhile = await follow(before.cursor);
      expect(meanwhile.ids.filter(id => !before.ids.includes(id))).toEqual([]);
      for (const query of [
        'perPage=100',
        'perPage=100&order=desc',
        'perPage=100&sort=createdAt',
        'perPage=100&sort=createdAt&order=desc',
        'limit=100&count=exact',
        'perPage=100&since=2020-01-01T00:00:00Z',
      ]) {
        const { data, meta } = await list(query);
        expect([query, data.length, meta.total]).toEqual([query, total, total]);
      }
      const filtered = await list(`resource=user&resourceId=${user}&perPage=100`);
      expect(filtered.data.map(({ type }) => type)).toEqual(['user.created']);
    });
    const after = await follow(before.cursor);
    const seen = [...new Set([...before.ids, ...after.ids])];
    expect(seen).toEqual((await list('perPage=100')).data.map(({ id }) => id));
    expect(seen).toHaveLength(total + 2);
  });

  test('transactions outside the service do not hold events back', async () => {
    const last = async () => (await list('limit=1&order=desc')).data[0]?.id ?? 0;
    const before = await last();
    const done = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const long = other.begin(async tx => {
      await tx.unsafe('create table of_others (id integer)');
      begun.resolve();
      await done.promise;
    });
    await begun.promise;
    await addProduct(service);
    expect(await last()).toBeGreaterThan(before);
    done.resolve();
    await long;
  });

  test('a follower beside eight writers misses none of their events', async () => {
    const products = await Promise.all(Array.from({ length: 8 }, () => addProduct(service)));
    const seen: number[] = [];
    let cursor: string | undefined;
    let writing = true;
    const poll = async () => {
      const found = await follow(cursor);
      cursor = found.cursor;
      for (const id of found.ids) if (!seen.includes(id)) seen.push(id);
    };
    const writers = Promise.all(
      products.map(async (product, index) => {
        for (let round = 0; round < 12; round++) {
          const body = { price: round + index, name: `Lamp ${round}` };
          const done = await call(service, { method: 'PATCH', path: pathOf(product), as: 'admin', body });
          expect(done.status).toBe(200);
        }
      }),
    ).finally(() => {
      writing = false;
    });
    while (writing) await poll();
    await writers;
    await poll();
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    const { total } = (await list('limit=1&count=exact')).meta;
    expect(seen).toHaveLength(total ?? 0);
    const updates = await list(`type=product.updated&limit=1&count=exact`);
    expect(updates.meta.total ?? 0).toBeGreaterThanOrEqual(8 * 12);
  });
});
