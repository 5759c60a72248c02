/** `catalog media check --repair` on a catalog that the running service changes after the problems were found. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompiledQuery } from 'kysely';
import { findWrong, type Wrong } from '../../../src/cli/media/find.ts';
import { createRepairer } from '../../../src/cli/media/repair.ts';
import { loadConfig } from '../../../src/config.ts';
import { createMedia, type Media } from '../../../src/media/index.ts';
import { createLog } from '../../../src/operations/log.ts';
import type { Database, Session } from '../../../src/storage/database.ts';
import { addProduct, type Product, pathOf, read } from '../../support/data/catalog.ts';
import { plainPng, sendImage } from '../../support/data/images.ts';
import { call } from '../../support/http/http.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import {
  type DatabaseKind,
  serviceSecret,
  startTestService,
  type TestService,
} from '../../support/service/service.ts';

const hour = 60 * 60 * 1000;
const kinds: readonly DatabaseKind[] = ['sqlite', 'postgresql'];

for (const kind of kinds) {
  describe.skipIf(kind === 'postgresql' && !hasPostgres)(`repairs of images on ${kind}`, () => {
    let folder: string;
    let service: TestService;
    let media: Media;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
      const settings = { DATA_DIR: folder, JWT_SECRET: serviceSecret };
      service = await startTestService(kind, settings);
      media = createMedia(
        loadConfig(settings),
        service.clock,
        createLog('silent', () => undefined, Date.now),
      );
    });
    afterAll(async () => {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const upload = async (product: Product, file: Uint8Array) => {
      const made = await sendImage(service, product, file);
      expect(made.status).toBe(201);
      return made.body;
    };
    const hashOf = (image: { url: string }): string => image.url.slice('/media/'.length);
    const find = async (): Promise<readonly Wrong[]> =>
      (await findWrong(service.database, media.store, { content: true, now: Date.now() + 2 * hour })).wrong;
    const repair = async (found: readonly Wrong[]): Promise<void> => {
      for (const wrong of found) expect(await createRepairer(service.database, media)(wrong)).toBe(true);
    };
    const remove = (table: 'media' | 'media_uses', hash: string) =>
      service.database.write(session =>
        session.run(service.database.build.deleteFrom(table).where('hash', '=', hash).compile()),
      );
    const showsImage = async (product: Product): Promise<boolean> => {
      const { images } = (await read(service, product)).body;
      return images.length === 1 && (await fetch(service.url + images[0].url)).status === 200;
    };

    test('a product that changes while problems are searched for is none', async () => {
      const file = plainPng(26, 26, 1, 1, 1);
      const [shown, later] = [await addProduct(service), await addProduct(service)];
      await upload(shown, file);
      let changes = 0;
      const change = async () => {
        if (changes++ > 0) return;
        await upload(later, file);
        await call(service, { method: 'DELETE', path: pathOf(shown), as: 'editor' });
      };
      const readLate = <S extends Session>(session: S): S => ({
        ...session,
        async all(query: CompiledQuery) {
          if (query.sql.includes('media_uses')) await change();
          return session.all(query);
        },
      });
      const database: Database = {
        ...service.database,
        read: readLate(service.database.read),
        snapshot: (work, options) => service.database.snapshot(session => work(readLate(session)), options),
      };
      const options = { content: true, now: Date.now() + 2 * hour };
      const { wrong } = await findWrong(database, media.store, options);
      expect([changes > 0, wrong]).toEqual([true, []]);
      expect(await find()).toEqual([]);
    });

    test('a file that nothing showed stays if a product shows it now', async () => {
      const file = plainPng(21, 21, 1, 1, 1);
      const first = await addProduct(service);
      const hash = hashOf(await upload(first, file));
      await call(service, { method: 'DELETE', path: pathOf(first), as: 'editor' });
      await remove('media', hash);
      const found = await find();
      expect(found).toMatchObject([{ kind: 'file without row', hash, products: [] }]);
      const product = await addProduct(service);
      await upload(product, file);
      await repair(found);
      expect(await showsImage(product)).toBe(true);
      expect(await find()).toEqual([]);
    });

    test('an image whose file was lost stays if it was uploaded again', async () => {
      const file = plainPng(22, 22, 1, 1, 1);
      const product = await addProduct(service);
      const image = await upload(product, file);
      await media.store.remove(hashOf(image));
      const found = await find();
      expect(found).toMatchObject([{ kind: 'row without file', products: [product.id] }]);
      const again = await addProduct(service);
      await upload(again, file);
      await repair(found);
      expect([await showsImage(product), await showsImage(again)]).toEqual([true, true]);
      expect(await find()).toEqual([]);
    });

    test.each([1, 2])(
      'an image stays if it is uploaded again after its file was missed %d times',
      async times => {
        const file = plainPng(25, 25, times, 1, 1);
        const [product, again] = [await addProduct(service), await addProduct(service)];
        const image = await upload(product, file);
        await media.store.remove(hashOf(image));
        const [wrong] = await find();
        let missed = 0;
        const has = async (hash: string) => {
          const isThere = await media.store.has(hash);
          if (++missed === times) await upload(again, file);
          return isThere;
        };
        const store = { ...media.store, has };
        expect(wrong).toMatchObject({ kind: 'row without file', products: [product.id] });
        if (wrong !== undefined) await createRepairer(service.database, { ...media, store })(wrong);
        expect([missed > times, await showsImage(again), await find()]).toEqual([true, true, []]);
      },
    );

    test('the record of products has those that show the image now', async () => {
      const file = plainPng(23, 23, 1, 1, 1);
      const [kept, given, taken, deleted] = [
        await addProduct(service),
        await addProduct(service),
        await addProduct(service),
        await addProduct(service),
      ];
      const image = await upload(kept, file);
      for (const product of [taken, deleted]) await upload(product, file);
      await remove('media_uses', hashOf(image));
      const found = await find();
      expect(found).toMatchObject([{ kind: 'uses', products: [kept.id, taken.id, deleted.id] }]);
      await upload(given, file);
      await call(service, { method: 'PATCH', path: pathOf(taken), as: 'editor', body: { images: [] } });
      await call(service, { method: 'DELETE', path: pathOf(deleted), as: 'editor' });
      await repair(found);
      expect(await find()).toEqual([]);
      expect([await showsImage(kept), await showsImage(given)]).toEqual([true, true]);
    });

    test('a product keeps its version if it no longer shows the lost image', async () => {
      const product = await addProduct(service);
      await media.store.remove(hashOf(await upload(product, plainPng(24, 24, 1, 1, 1))));
      const found = await find();
      await call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { images: [] } });
      const { version } = (await read(service, product)).body;
      await repair(found);
      expect((await read(service, product)).body.version).toBe(version);
      expect(await find()).toEqual([]);
    });
  });
}
