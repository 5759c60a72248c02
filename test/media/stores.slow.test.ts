/** Where images are kept: a folder and S3 behave alike; what is shared, removed and found again. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../src/config.ts';
import { createMedia, type Media } from '../../src/media/index.ts';
import { createLog } from '../../src/operations/log.ts';
import { createImageFiles } from '../../src/resources/images/files.ts';
import { createImageStore } from '../../src/resources/images/store.ts';
import { runHere } from '../cli/here.ts';
import { addProduct, type Product, pathOf, read } from '../support/data/catalog.ts';
import { noise, plainPng, png, sendImage } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { expectRejection } from '../support/http/rejection.ts';
import { startS3, type TestS3 } from '../support/peers/s3.ts';
import { createDatabase, hasPostgres } from '../support/service/postgres.ts';
import {
  type DatabaseKind,
  serviceSecret,
  startTestService,
  type TestService,
} from '../support/service/service.ts';

const hour = 60 * 60 * 1000;
const silent = createLog('silent', () => undefined, Date.now);

const places: readonly (readonly [where: 'folder' | 's3', kind: DatabaseKind])[] = [
  ['folder', 'sqlite'],
  ['s3', 'sqlite'],
  ['folder', 'postgresql'],
  ['s3', 'postgresql'],
];

for (const [where, kind] of places) {
  describe.skipIf(kind === 'postgresql' && !hasPostgres)(`images in ${where}, rows in ${kind}`, () => {
    let folder: string;
    let s3: TestS3 | undefined;
    let settings: Record<string, string>;
    let service: TestService;
    let media: Media;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
      mkdirSync(join(folder, 'shared'));
      s3 = where === 's3' ? await startS3() : undefined;
      settings = {
        DATA_DIR: folder,
        MEDIA_URL: s3?.url ?? pathToFileURL(join(folder, 'shared')).href,
        JWT_SECRET: serviceSecret,
        ...(kind === 'postgresql' ? { DATABASE_URL: await createDatabase() } : {}),
      };
      service = await startTestService(kind, settings);
      media = createMedia(loadConfig(settings), service.clock, silent);
    });
    afterAll(async () => {
      await service.stop();
      await s3?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const stored = async (): Promise<string[]> => {
      const hashes: string[] = [];
      for await (const { hash } of media.store.list()) hashes.push(hash);
      return hashes.sort();
    };
    const hashOf = (image: { url: string }): string => image.url.slice('/media/'.length);
    const upload = async (product: Product, file: Uint8Array) => {
      const made = await sendImage(service, product, file);
      expect(made.status).toBe(201);
      return made.body;
    };
    const takeOff = (product: Product, image: { id: number }) =>
      call(service, { method: 'DELETE', path: `${pathOf(product)}/images/${image.id}`, as: 'editor' });
    const get = async (image: { url: string }, query = '') =>
      (await fetch(service.url + image.url + query)).status;
    /** Sweeps as the service does every ten minutes, this many hours from now. */
    const sweep = (hours = 0) => {
      const { database, clock } = service;
      return createImageFiles(database, media, createImageStore(database)).sweep(clock.now() + hours * hour);
    };
    const check = (...options: string[]) => runHere(['media', 'check', ...options], settings);
    /** Writes a file as a program would that knows nothing of the service. */
    const place = async (hash: string, content: Uint8Array): Promise<void> => {
      const shelf = hash.slice(0, 2);
      if (s3 !== undefined) await s3.client.write(`some/prefix/${shelf}/${hash}`, content);
      else await Bun.write(join(folder, 'shared', shelf, hash), content);
    };
    const displace = async (hash: string): Promise<void> => {
      const shelf = hash.slice(0, 2);
      if (s3 !== undefined) await s3.client.delete(`some/prefix/${shelf}/${hash}`);
      else rmSync(join(folder, 'shared', shelf, hash));
    };

    test('the same picture in two products is one file, which stays while one of them shows it', async () => {
      const [first, second] = [await addProduct(service), await addProduct(service)];
      const file = plainPng(11, 11, 11, 11, 11);
      const [one, two] = [await upload(first, file), await upload(second, file)];
      expect(one.url).toBe(two.url);
      expect((await stored()).filter(hash => hash === hashOf(one))).toHaveLength(1);
      await takeOff(first, one);
      await sweep(25);
      expect(await get(two)).toBe(200);
      await call(service, { method: 'DELETE', path: pathOf(second), as: 'editor' });
      await sweep();
      // Pages that were rendered before may show it for a day.
      expect(await get(two)).toBe(200);
      expect(await sweep(25)).toBe(1);
      expect(await stored()).not.toContain(hashOf(one));
      if (where === 'folder') expect(await get(two)).toBe(404);
    });

    test('a file that cannot be removed while the store is away is removed when it is back', async () => {
      const product = await addProduct(service);
      const image = await upload(product, plainPng(20, 20, 20, 20, 20));
      await takeOff(product, image);
      const { database, clock } = service;
      const away = () => Promise.reject(new Error('away'));
      const store = { ...media.store, remove: away };
      const files = createImageFiles(database, { ...media, store, remove: away }, createImageStore(database));
      await expectRejection(files.sweep(clock.now() + 25 * hour), 'away');
      expect(await stored()).toContain(hashOf(image));
      expect(await sweep(25)).toBe(1);
      expect(await stored()).not.toContain(hashOf(image));
      expect(await sweep(25)).toBe(0);
    });

    test('every way to remove an image from a product releases its file; adding it again keeps the file', async () => {
      const ways: readonly ((product: Product) => Promise<unknown>)[] = [
        product =>
          call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { images: [] } }),
        product =>
          call(service, {
            method: 'PUT',
            path: pathOf(product),
            as: 'editor',
            body: { name: 'New', price: 1 },
          }),
        product =>
          call(service, {
            method: 'PATCH',
            path: '/v1/products',
            as: 'editor',
            body: { ids: [product.id], update: { images: [] } },
          }),
        product => call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' }),
      ];
      for (const [index, way] of ways.entries()) {
        const product = await addProduct(service);
        const file = plainPng(12, 12, index, 50, 50);
        const image = await upload(product, file);
        await way(product);
        if (index === 0) {
          const again = await addProduct(service);
          await upload(again, file);
          await sweep(25);
          expect([index, await get(image)]).toEqual([index, 200]);
          continue;
        }
        await sweep(25);
        expect([index, (await stored()).includes(hashOf(image))]).toEqual([index, false]);
      }
    });

    test('a refused upload leaves no file, unless another product has the same', async () => {
      const product = await addProduct(service, {
        images: Array.from({ length: 100 }, (_, index) => ({ url: `https://images.example/${index}` })),
      });
      const fresh = plainPng(13, 13, 1, 2, 3);
      const before = await stored();
      expect((await sendImage(service, product, fresh)).status).toBe(409);
      expect(await stored()).toEqual(before);
      const other = await addProduct(service);
      const image = await upload(other, fresh);
      expect((await sendImage(service, product, fresh)).status).toBe(409);
      expect(await get(image)).toBe(200);
    });

    test('a picture that one product accepts while another refuses it is kept', async () => {
      const full = await addProduct(service, {
        images: Array.from({ length: 100 }, (_, index) => ({ url: `https://images.example/${index}` })),
      });
      for (let round = 0; round < 5; round++) {
        const open = await addProduct(service);
        const file = plainPng(19, 19, round, 200, 200);
        const [refused, taken] = await Promise.all([
          sendImage(service, full, file),
          sendImage(service, open, file),
        ]);
        expect([refused.status, taken.status]).toEqual([409, 201]);
        expect([round, await media.store.has(hashOf(taken.body))]).toEqual([round, true]);
      }
    });

    test('a replica serves images uploaded to another', async () => {
      const elsewhere = mkdtempSync(join(tmpdir(), 'catalog-media-'));
      // On PostgreSQL the replica gets a folder of its own; on SQLite the folder holds the shared database.
      const own: Record<string, string> = kind === 'postgresql' ? { DATA_DIR: elsewhere } : {};
      const replica = await service.replica(own);
      const image = await upload(await addProduct(service), png(300, 200));
      const response = await fetch(`${replica.url}${image.url}?w=100`);
      expect([response.status, (await new Bun.Image(await response.bytes()).metadata()).width]).toEqual([
        200, 100,
      ]);
      expect((await fetch(replica.url + image.url)).status).toBe(200);
      // A file that is not held in memory: read from the store, and then from the local copy.
      const large = await upload(await addProduct(service), noise(600, 500));
      for (let round = 0; round < 3; round++) {
        const whole = await (await fetch(replica.url + large.url)).bytes();
        expect(new Bun.CryptoHasher('sha256').update(whole).digest('hex')).toBe(hashOf(large));
      }
      const part = await fetch(replica.url + large.url, { headers: { Range: 'bytes=-7' } });
      expect([part.status, (await part.bytes()).length]).toEqual([206, 7]);
      await replica.stop();
      rmSync(elsewhere, { recursive: true, force: true });
    });

    test('media check finds no problems', async () => {
      await upload(await addProduct(service), plainPng(14, 14, 1, 1, 1));
      const ended = await check('--content');
      expect(ended).toMatchObject({ status: 0, err: '' });
      expect(ended.out).toMatch(/^no problems found: \d+ files? of [\d,]+ bytes in /);
    });

    test('media check finds problems, and --repair repairs them', async () => {
      const product = await addProduct(service, { images: [{ url: 'https://images.example/link.jpg' }] });
      const lost = await upload(product, plainPng(15, 15, 1, 1, 1));
      const torn = await upload(product, plainPng(16, 16, 1, 1, 1));
      const { database } = service;
      await displace(hashOf(lost));
      // A file without a row. One that was just written may belong to an upload under way.
      const stray = 'f'.repeat(64);
      await place(stray, Buffer.from('stray'));
      expect((await check()).out).not.toContain(stray);
      const later = Date.now() + 2 * hour;
      const { findWrong } = await import('../../src/cli/media/find.ts');
      const found = await findWrong(database, media.store, { content: false, now: later });
      expect(found.wrong).toContainEqual({ kind: 'file without row', hash: stray, size: 5, products: [] });
      await database.write(session =>
        session.run(database.build.deleteFrom('media_uses').where('hash', '=', hashOf(torn)).compile()),
      );
      const ended = await check();
      expect(ended.status).toBe(1);
      expect(ended.out).toContain(`${hashOf(lost)}: a row without a file; shown by product ${product.id}\n`);
      expect(ended.out).toContain(`${hashOf(torn)}: the record of the products that show it is wrong`);
      expect(ended.out).toContain('2 wrong; catalog media check --repair');
      const repaired = await check('--repair');
      expect([repaired.status, repaired.out.trimEnd().split('\n').at(-1)]).toEqual([0, '2 repaired']);
      const { images } = (await read(service, product)).body;
      expect(images.map(({ url }: { url: string }) => url)).toEqual([
        'https://images.example/link.jpg',
        torn.url,
      ]);
      const events = `/v1/events?resource=product&resourceId=${product.id}&sort=id&order=desc`;
      const [last] = (await call(service, { path: events, as: 'admin' })).body.data;
      expect([last.type, last.actor]).toEqual(['product.updated', 'cli']);
      const { createRepairer: repairing } = await import('../../src/cli/media/repair.ts');
      for (const wrong of found.wrong.filter(({ hash }) => hash === stray))
        expect(await repairing(database, media)(wrong)).toBe(true);
      expect(await stored()).not.toContain(stray);
      expect((await check()).status).toBe(0);
    });

    test('media check leaves a damaged file alone', async () => {
      const image = await upload(await addProduct(service), plainPng(17, 17, 1, 1, 1));
      const whole = await media.store.read(hashOf(image));
      const damaged = Buffer.from(whole ?? []);
      damaged[60] = (damaged[60] ?? 0) ^ 1;
      await place(hashOf(image), damaged);
      expect((await check()).status).toBe(0);
      const ended = await check('--content', '--repair');
      expect(ended.status).toBe(1);
      expect(ended.out).toContain(
        `${hashOf(image)}: the file is damaged: its content is not what its name says`,
      );
      expect(await stored()).toContain(hashOf(image));
      await place(hashOf(image), whole ?? damaged);
      expect((await check('--content')).status).toBe(0);
    });

    const ofFolders = where === 'folder' ? test : () => undefined;
    ofFolders('what a write that was cut off has left is removed an hour later', async () => {
      await upload(await addProduct(service), plainPng(18, 18, 1, 1, 1));
      const unfinished = join(folder, 'shared', 'unfinished');
      writeFileSync(join(unfinished, 'cut-off'), 'half');
      const at = (now: number) =>
        createMedia(loadConfig(settings), { now: () => now }, silent).store.removeUnfinished();
      expect(await at(Date.now())).toBe(0);
      expect(readdirSync(unfinished)).toEqual(['cut-off']);
      expect(await at(Date.now() + 2 * hour)).toBe(1);
      expect(readdirSync(unfinished)).toEqual([]);
    });
  });
}
