/** Adjusting stock by hand: all lines or none, recorded with who and why. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { addProduct } from '../../support/data/catalog.ts';
import { addKey, userIdOf } from '../../support/data/people.ts';
import { addStocked, adjust, order, ordered, shownOf } from '../../support/data/stock.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { unchanged } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/stock/adjustments';
const line = { productId: 1, delta: 1, reason: 'count' };

const malformed: [name: string, body: unknown, problems: [string, string][]][] = [
  ['nothing', {}, [['adjustments', 'required']]],
  ['no lines', { adjustments: [] }, [['adjustments', 'minItems']]],
  ['501 lines', { adjustments: new Array(501).fill(line) }, [['adjustments', 'maxItems']]],
  ['no delta', { adjustments: [{ ...line, delta: undefined }] }, [['adjustments.0.delta', 'required']]],
  ['a delta of nothing', { adjustments: [{ ...line, delta: 0 }] }, [['adjustments.0.delta', 'notZero']]],
  ['half a piece', { adjustments: [{ ...line, delta: 0.5 }] }, [['adjustments.0.delta', 'type']]],
  ['a delta as text', { adjustments: [{ ...line, delta: '5' }] }, [['adjustments.0.delta', 'type']]],
  [
    'more than can be counted',
    { adjustments: [{ ...line, delta: 2 ** 31 }] },
    [['adjustments.0.delta', 'maximum']],
  ],
  ['no reason', { adjustments: [line, { productId: 1, delta: 1 }] }, [['adjustments.1.reason', 'required']]],
  ['a blank reason', { adjustments: [{ ...line, reason: ' ' }] }, [['adjustments.0.reason', 'blank']]],
  ['no product', { adjustments: [{ delta: 1, reason: 'x' }] }, [['adjustments.0.productId', 'required']]],
  ['a product named twice', { adjustments: [{ ...line, sku: 'A' }] }, [['adjustments.0.sku', 'one']]],
];

describeOnDatabases('stock adjustments on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('by a sku that was changed by hand are made: no write waits for the document to have it, too', async () => {
    const lamp = await addStocked(service, 10, {}, { sku: 'FORMER' });
    const { build, write } = service.database;
    const change = sql`update products set sku = 'BY HAND' where id = ${lamp.id}`;
    await write(session => session.run(change.compile(build)));
    const { status } = await adjust(service, [{ sku: 'BY HAND', delta: 5, reason: 'delivery' }]);
    expect([status, (await shownOf(service, lamp)).onHand]).toEqual([200, 15]);
  });

  test.each([
    ['reserved', { reserved: 2 ** 31 - 6 }],
    ['owed', { reserved: 1, owed: 2 ** 31 - 7 }],
  ])(
    'work up to the largest number of %s pieces; more cannot be ordered on backorder',
    async (_, members) => {
      const lamp = await addStocked(service, 0, { backorder: true });
      await ordered(service, [lamp, 1]);
      const { build, write } = service.database;
      const near = JSON.stringify(members).slice(1, -1);
      const change = sql`update products set document = replace(document, '"reserved":1', ${near})
      where id = ${lamp.id}`;
      await write(session => session.run(change.compile(build)));
      const refusal = (left: number) => ({
        status: 409,
        body: {
          error: 'OUT_OF_STOCK',
          details: [
            {
              field: 'items.0.quantity',
              message: `only ${left} of product ${lamp.id} can be ordered, ${left + 1} were requested`,
            },
          ],
        },
      });
      expect(await order(service, [lamp, 6])).toMatchObject(refusal(5));
      const { path } = await ordered(service, [lamp, 5]);
      expect((await adjust(service, [{ productId: lamp.id, delta: 1, reason: 'delivery' }])).status).toBe(
        200,
      );
      expect((await call(service, { method: 'POST', path: `${path}/payment`, as: 'admin' })).status).toBe(
        200,
      );
      // The delivered piece is sold: it is neither reserved nor owed any more.
      expect(await order(service, [lamp, 2])).toMatchObject(refusal(1));
    },
  );

  test('link in HAL to the adjusted products and variants', async () => {
    const lamp = await addStocked(service, 3);
    const fields = { options: [{ name: 'Size', values: ['S'] }] };
    const shirt = await addProduct(service, fields);
    const made = await call(service, {
      ...{ method: 'POST', path: `/v1/products/${shirt.id}/variants`, as: 'editor' as const },
      body: { options: { Size: 'S' }, stock: { onHand: 1 } },
    });
    const lines = [{ productId: lamp.id }, { variantId: made.body.id }];
    expect(
      (
        await adjust(
          service,
          lines.map(one => ({ ...one, delta: 2, reason: 'count' })),
        )
      ).status,
    ).toBe(200);
    const listed = await call(service, {
      path: `${path}?sort=id&order=desc&perPage=2`,
      ...{ as: 'editor' as const, headers: { Accept: 'application/hal+json' } },
    });
    const followed = [];
    for (const { delta, _links } of listed.body._embedded.adjustments) {
      const { href } = _links.variant ?? _links.product;
      const { body } = await call(service, { path: new URL(href).pathname, as: 'editor' });
      followed.push([delta, body.id, body.stock.onHand]);
    }
    expect(followed).toEqual([
      [2, made.body.id, 3],
      [2, lamp.id, 5],
    ]);
  });

  describe('refused requests', () => {
    test.each(malformed)('%s', (name, body, problems) =>
      play(service, { name, method: 'POST', path, as: 'editor', body, status: 400, problems }),
    );

    test.each([
      ['POST', undefined, 401, 'UNAUTHORIZED'],
      ['POST', 'user', 403, 'FORBIDDEN'],
      ['GET', undefined, 401, 'UNAUTHORIZED'],
      ['GET', 'user', 403, 'FORBIDDEN'],
    ] as const)('%s without rights', (method, as, status, error) => {
      const body = method === 'POST' ? { adjustments: [line] } : undefined;
      const caller = as === undefined ? {} : { as };
      return play(service, { name: 'without rights', method, path, ...caller, body, status, error });
    });

    test('each line that cannot be applied is named, and none is applied', async () => {
      const good = await addStocked(service, 10);
      const few = await addStocked(service, 2);
      const held = await addStocked(service, 5);
      const plain = await addProduct(service);
      const off = await addStocked(service, 5, { tracked: false });
      const full = await addStocked(service, 2_147_483_647);
      await ordered(service, [held, 4]);
      const check = await unchanged(service);
      const reason = 'count';
      const response = await adjust(service, [
        { productId: good.id, delta: 5, reason },
        { productId: few.id, delta: -3, reason },
        { productId: held.id, delta: -2, reason },
        { productId: plain.id, delta: 1, reason },
        { productId: off.id, delta: 1, reason },
        { productId: full.id, delta: 1, reason },
        { productId: 2_000_000_000, delta: 1, reason },
        { sku: `nowhere-${kind}`, delta: 1, reason },
        { productId: good.id, delta: -16, reason },
      ]);
      expect([response.status, response.body.error]).toEqual([422, 'ADJUSTMENT_REFUSED']);
      expect(response.body.details.map(({ field, code }: Record<string, string>) => [field, code])).toEqual([
        ['adjustments.1.delta', 'minimum'],
        ['adjustments.2.delta', 'reserved'],
        ['adjustments.3.productId', 'untracked'],
        ['adjustments.4.productId', 'untracked'],
        ['adjustments.5.delta', 'maximum'],
        ['adjustments.6.productId', 'unknown'],
        ['adjustments.7.sku', 'unknown'],
        ['adjustments.8.delta', 'minimum'],
      ]);
      expect(response.body.details[0]).toEqual({
        field: 'adjustments.1.delta',
        pointer: '#/adjustments/1/delta',
        code: 'minimum',
        message: 'delta -3 would change onHand from 2 to -1; there cannot be fewer than 0',
      });
      await check();
    });
  });

  test('lines are applied in sequence, and listed with actor and reason', async () => {
    const lamp = await addStocked(service, 0, {}, { sku: `ADJ-${kind}` });
    const desk = await addStocked(service, 7);
    const actor = `user:${await userIdOf(service, 'editor')}`;
    const response = await adjust(service, [
      { sku: `ADJ-${kind}`, delta: 12, reason: 'delivery 4711' },
      { productId: desk.id, delta: -2, reason: 'broken' },
      { productId: lamp.id, delta: -1, reason: 'shown in the window' },
    ]);
    expect(response.status === 200 ? 200 : response.text).toBe(200);
    const common = {
      id: expect.any(Number),
      variantId: null,
      reserved: 0,
      actor,
      createdAt: new Date(service.clock.now()).toISOString(),
    };
    const ofLamp = [
      { ...common, productId: lamp.id, sku: `ADJ-${kind}`, delta: 12, reason: 'delivery 4711', onHand: 12 },
      {
        ...common,
        productId: lamp.id,
        sku: `ADJ-${kind}`,
        delta: -1,
        reason: 'shown in the window',
        onHand: 11,
      },
    ];
    const ofDesk = { ...common, productId: desk.id, sku: null, delta: -2, reason: 'broken', onHand: 5 };
    expect(response.body.data).toEqual([ofLamp[0], ofDesk, ofLamp[1]]);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 11, reserved: 0, available: true });
    expect(await shownOf(service, desk)).toEqual({ onHand: 5, reserved: 0, available: true });

    const list = (query: string) => call(service, { path: `${path}?${query}`, as: 'editor' });
    expect((await list(`productId=${lamp.id}`)).body.data).toEqual(ofLamp);
    const first = await list(`productId=${lamp.id}&limit=1&sort=id&order=desc`);
    expect(first.body.data).toEqual([ofLamp[1]]);
    const next = await call(service, { path: first.body.links.next.slice(service.url.length), as: 'editor' });
    expect(next.body.data).toEqual([ofLamp[0]]);
    expect((await list('variantId=2147483647')).body.data).toEqual([]);
    expect((await list('productId=0')).status).toBe(400);
  });

  test('a repetition with the same Idempotency-Key adjusts nothing', async () => {
    const lamp = await addStocked(service, 1);
    const lines = [{ productId: lamp.id, delta: 4, reason: 'delivery' }];
    const headers = { 'Idempotency-Key': `adjust-${kind}` };
    const first = await adjust(service, lines, headers);
    const again = await adjust(service, lines, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect((await shownOf(service, lamp)).onHand).toBe(5);
  });

  test('an API key needs the scope for products', async () => {
    const lamp = await addStocked(service, 1);
    const body = { adjustments: [{ productId: lamp.id, delta: 1, reason: 'delivery' }] };
    const may = await call(service, {
      method: 'POST',
      path,
      headers: await addKey(service, 'products:write'),
      body,
    });
    expect(may.status).toBe(200);
    expect(may.body.data[0].actor).toStartWith('key:');
    const mayNot = await call(service, {
      method: 'POST',
      path,
      headers: await addKey(service, 'products:read'),
      body,
    });
    expect(mayNot.status).toBe(403);
  });

  test('concurrent adjustments on two replicas add up', async () => {
    const replica = await service.replica();
    const lamp = await addStocked(service, 0);
    const sold = new Set<number>();
    await Promise.all([
      ...Array.from({ length: 20 }, (_, number) =>
        adjust(number % 2 === 0 ? service : replica, [{ productId: lamp.id, delta: 3, reason: 'delivery' }]),
      ),
      ...Array.from({ length: 20 }, async (_, number) => {
        const response = await adjust(service, [{ productId: lamp.id, delta: -2, reason: 'lost' }]);
        if (response.status === 200) sold.add(number);
      }),
    ]);
    expect((await shownOf(service, lamp)).onHand).toBe(60 - 2 * sold.size);
  });
});
