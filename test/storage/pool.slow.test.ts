/** Connections to PostgreSQL that open slowly or never: the pool does not lose them for later requests. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { parseAddress } from '../../src/storage/postgres/address.ts';
import type { Connection } from '../../src/storage/postgres/connection.ts';
import { createConnector } from '../../src/storage/postgres/connector.ts';
import { openPool, type PostgresPool } from '../../src/storage/postgres/pool.ts';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { createDatabase, hasPostgres } from '../support/service/postgres.ts';
import { startTestService } from '../support/service/service.ts';

/** The timeout, in milliseconds, of waiting for a connection and of a statement. */
const patience = 300;
/** A proxy between the service and PostgreSQL, which can hold up connections. */
interface Between extends AsyncDisposable {
  readonly url: string;
  /** From now on, accepts new connections, but forwards nothing that clients send. */
  hold(): void;
  /** From now on, holds connections whose clients send this text, which is part of the check of new connections. */
  holdFrom(text: string): void;
  /** Forwards everything that was held. */
  release(): void;
  /** Closes the connections that are held. */
  cut(): void;
  /** From now on, closes a connection that has written to a table when the server has committed, in place of the response. */
  loseCommits(table: string): void;
  /** Closes all connections, and then acts like `hold`. @returns a function that counts the connections opened since */
  lose(): () => number;
  close(): void;
}

async function standBetween(target: string): Promise<Between> {
  const { hostname, port } = new URL(target);
  const held = new Set<{ socket: Socket; goOn(): void }>();
  const sockets = new Set<Socket>();
  let holds: (data: string | Buffer) => boolean = () => false;
  let committing: string | undefined;
  let opened = 0;
  const server: Server = createServer(client => {
    opened++;
    const onward = connect(Number(port), hostname);
    let waiting: (string | Buffer)[] | undefined;
    let hasWritten = false;
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.on('close', () => onward.destroy());
    onward.on('close', () => client.destroy());
    onward.on('data', data => {
      if (hasWritten && data.includes('COMMIT\0')) client.destroy();
      else client.write(data);
    });
    client.on('data', data => {
      hasWritten ||= committing !== undefined && data.includes(committing);
      if (waiting === undefined && holds(data)) {
        waiting = [];
        held.add({
          socket: client,
          goOn() {
            for (const part of waiting ?? []) onward.write(part);
            waiting = undefined;
          },
        });
      }
      if (waiting === undefined) onward.write(data);
      else waiting.push(data);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  const own = new URL(target);
  own.hostname = '127.0.0.1';
  own.port = String(address.port);
  function close(): void {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
  return {
    url: own.href,
    hold() {
      holds = () => true;
    },
    holdFrom(text) {
      holds = data => data.includes(text);
    },
    release() {
      holds = () => false;
      for (const { goOn } of held) goOn();
      held.clear();
    },
    cut() {
      holds = () => false;
      for (const { socket } of held) socket.destroy();
      held.clear();
    },
    loseCommits(table) {
      committing = `insert into "${table}"`;
    },
    lose() {
      holds = () => true;
      for (const socket of sockets) socket.destroy();
      const before = opened;
      return () => opened - before;
    },
    close,
    [Symbol.asyncDispose]: async () => close(),
  };
}

const session = { statement_timeout: patience, lock_timeout: 0, idle_in_transaction_session_timeout: 0 };
const limits = {
  reads: session,
  writes: session,
  groups: session,
  counts: session,
  snapshots: session,
  checks: session,
};

describe.skipIf(!hasPostgres)('a pool whose connections open slowly', () => {
  let target: string;
  let between: Between;
  let pool: PostgresPool;
  beforeAll(async () => {
    target = await createDatabase();
  });
  beforeEach(async () => {
    between = await standBetween(target);
    const connector = createConnector(parseAddress(between.url), 'pool test', 'none');
    // With four connections, there is one of each kind.
    pool = openPool({ size: 4, connector, limits, patience });
  });
  afterEach(async () => {
    await pool.close(1);
    between.close();
  });

  const write = () => pool.use('writes', connection => connection.run('select 1 as one'));
  const unavailable = expect.objectContaining({ kind: 'unavailable' });
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: unknown) => error,
    );

  /** Loses the only connection while others wait, and holds the new ones opened for them. @returns their outcomes */
  async function loseWhileOthersWait(others: number): Promise<unknown[]> {
    const { promise: lent, resolve: isLent } = Promise.withResolvers<Connection>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const first = outcome(
      pool.use('writes', async connection => {
        isLent(connection);
        await ended;
      }),
    );
    const connection = await lent;
    const waiting = Array.from({ length: others }, () => outcome(write()));
    between.hold();
    connection.close();
    end();
    await first;
    return Promise.all(waiting);
  }

  test('a connection that opens after its caller gave up is used by the next caller', async () => {
    expect(await loseWhileOthersWait(3)).toEqual([unavailable, unavailable, unavailable]);
    between.release();
    for (let turn = 0; turn < 3; turn++) expect(await outcome(write())).toBe('done');
  });

  test('a connection that opens late is used by a caller that waits meanwhile', async () => {
    expect(await loseWhileOthersWait(1)).toEqual([unavailable]);
    const next = outcome(write());
    between.release();
    expect(await next).toBe('done');
  });

  test('a connection that is cut while it opens, after its caller gave up, frees its place', async () => {
    expect(await loseWhileOthersWait(2)).toEqual([unavailable, unavailable]);
    const next = outcome(write());
    between.cut();
    expect(await next).toBe('done');
    expect(await outcome(write())).toBe('done');
  });

  test('a server that accepts connections and does not respond to the first statement is given up', async () => {
    between.holdFrom('pg_is_in_recovery');
    expect(await outcome(write())).toEqual(unavailable);
    expect(await outcome(pool.query('select 1', []))).toEqual(unavailable);
    between.cut();
    expect(await outcome(write())).toBe('done');
    expect(await outcome(pool.query('select 1', []))).toBe('done');
  });
});

describe.skipIf(!hasPostgres)('writes of the same product, when the server is lost', () => {
  test('are given up together, not one after another', async () => {
    await using between = await standBetween(await createDatabase());
    await using service = await startTestService('postgresql', { DATABASE_URL: between.url });
    const product = await addProduct(service, { price: 1 });
    const change = (price: number) =>
      call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { price } });
    expect((await change(2)).status).toBe(200);
    const countOpened = between.lose();
    const refused = await Promise.all(Array.from({ length: 10 }, (_, price) => change(price)));
    const opened = countOpened();
    between.release();
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(
      refused.map(() => [503, 'DATABASE_UNAVAILABLE']),
    );
    // One after another, each would wait for a connection of its own.
    expect(opened).toBeLessThan(refused.length / 2);
  }, 60_000);
});

describe.skipIf(!hasPostgres)('a write whose commit is not confirmed', () => {
  // Those of products share transactions with others.
  test.each([
    ['products', { name: 'Lamp', price: 1, category: 'lost' }],
    ['articles', { title: 'Lamps', body: 'Of all kinds.' }],
  ])(
    'is reported as failed, and not made a second time: %s',
    async (name, body) => {
      await using between = await standBetween(await createDatabase());
      await using service = await startTestService('postgresql', { DATABASE_URL: between.url });
      between.loseCommits(name);
      const path = `/v1/${name}`;
      const made = await call(service, { method: 'POST', path, as: 'editor', body });
      expect([made.status, made.body.error]).toEqual([503, 'DATABASE_UNAVAILABLE']);
      expect((await call(service, { path, as: 'editor' })).body.meta.total).toBe(1);
    },
    60_000,
  );
});
