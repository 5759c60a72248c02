/** Read requests with an API key, while another process keeps all others from writing. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { addProduct, nowOf, pathOf } from '../../support/data/catalog.ts';
import { addUnusedKey } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase } from '../../support/service/postgres.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Milliseconds within which a request that writes nothing gets its response: far less than writers wait. */
const unharmed = 2000;

interface Place {
  readonly service: TestService;
  /** Keeps all others from writing API keys until the returned function is called. */
  hold(): Promise<() => Promise<void>>;
  end(): Promise<void>;
}

const placeOn = { sqlite, postgresql };

async function sqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-held-'));
  const service = await startTestService('sqlite', { DATA_DIR: folder });
  const other = new Database(join(folder, 'catalog.db'));
  return {
    service,
    async hold() {
      other.run('begin immediate');
      return async () => void other.run('rollback');
    },
    async end() {
      other.close();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function postgresql(): Promise<Place> {
  const url = await createDatabase();
  const service = await startTestService('postgresql', { DATABASE_URL: url });
  const other = new SQL(url, { max: 1 });
  return {
    service,
    async hold() {
      const holder = await other.reserve();
      await holder.unsafe('begin');
      await holder.unsafe('lock table api_keys in exclusive mode');
      return async () => {
        await holder.unsafe('rollback');
        holder.release();
      };
    },
    async end() {
      await other.close({ timeout: 0 });
      await service.stop();
    },
  };
}

describeOnDatabases('a writer that another process holds up, on %s', kind => {
  test('does not delay reads with an API key, whose use is recorded afterwards', async () => {
    const { service, hold, end } = await placeOn[kind]();
    try {
      const path = pathOf(await addProduct(service));
      const headers = await addUnusedKey(service, { scopes: ['products:read'] });
      const lastUse = async () =>
        (await call(service, { path: '/v1/keys', as: 'admin' })).body.data[0].lastUsedAt;
      const release = await hold();
      try {
        for (let turn = 0; turn < 10; turn++) {
          const start = performance.now();
          expect((await call(service, { path, headers })).status).toBe(200);
          expect(performance.now() - start).toBeLessThan(unharmed);
        }
        expect(await lastUse()).toBeNull();
      } finally {
        await release();
      }
      await service.settle();
      expect(await lastUse()).toBe(nowOf(service));
    } finally {
      await end();
    }
  });

  test('records every use before a service stops', async () => {
    const { service, hold, end } = await placeOn[kind]();
    try {
      const replica = await service.replica();
      const headers = await addUnusedKey(service, { scopes: ['products:read'] });
      const release = await hold();
      expect((await call(replica, { path: '/v1/products', headers })).status).toBe(200);
      const stopped = replica.stop();
      await release();
      await stopped;
      const { body } = await call(service, { path: '/v1/keys', as: 'admin' });
      expect(body.data[0].lastUsedAt).toBe(nowOf(service));
    } finally {
      await end();
    }
  });
});
