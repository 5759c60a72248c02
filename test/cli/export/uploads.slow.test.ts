/** Uploaded images: an export names them, and an import restores them if the catalog still has their files. */
import { expect, test } from 'bun:test';
import { createImageStore } from '../../../src/resources/images/store.ts';
import { plainPng, sendImage } from '../../support/data/images.ts';
import { call } from '../../support/http/http.ts';
import { startImports } from '../../support/samples/imports.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import type { TestService } from '../../support/service/service.ts';

const shirt = {
  ...{ sku: 'SHIRT', externalId: 'shirt', name: 'Shirt', price: 10, currency: 'EUR' },
  images: ['https://images.example/shirt.jpg'],
  options: [{ name: 'Size', values: ['S', 'M'] }],
  variants: [{ sku: 'S', options: { Size: 'S' } }],
};

/** Does a day later what the service does every ten minutes. @returns the hashes of images whose files are removed */
const forgetUnused = ({ database, clock }: TestService): Promise<string[]> =>
  database.write(session =>
    createImageStore(database).forgetUnused(session, clock.now() + 25 * 60 * 60 * 1000),
  );

describeOnDatabases('uploads and the command line on %s', kind => {
  test.each(['csv', 'ndjson', 'json'])('an import of an export as %s restores them', async format => {
    await using imports = await startImports(kind);
    const { service, send, shown, place } = imports;
    await imports.take([shirt, { sku: 'MUG', name: 'Mug', price: 5, currency: 'EUR' }]);
    const product = await shown('SHIRT');
    const path = `/v1/products/${product.id}`;
    const { status, body } = await sendImage(service, product, plainPng(40, 30, 200, 10, 10));
    expect(status).toBe(201);
    await send('PATCH', `${path}/images/${body.id}`, { alt: 'Red' });
    const variant = `${path}/variants/${product.variants.S.id}`;
    expect((await send('PATCH', variant, { imageId: body.id })).status).toBe(200);
    const before = await shown('SHIRT');
    const file = await imports.exported(`out.${format}`);
    const load = async () => (await place.runHere(['import', file])).out;
    const expectFile = async () =>
      expect((await call(service, { path: body.url })).headers.get('Content-Type')).toBe('image/png');

    expect(await load()).toContain('0 created, 0 updated, 2 unchanged, 0 rejected');
    expect((await send('DELETE', `${path}/images/${body.id}`)).status).toBe(204);
    expect((await place.runHere(['import', file, '--dry-run'])).out).toContain('1 updated, 1 unchanged');
    const out = await load();
    expect(out).toContain('0 created, 1 updated, 1 unchanged, 0 rejected');
    expect(out).not.toContain('left out');
    const again = await shown('SHIRT');
    expect([again.images, again.variants.S.imageId]).toEqual([before.images, body.id]);
    await expectFile();

    expect((await send('DELETE', path)).status).toBe(204);
    expect(await load()).toContain('1 created, 0 updated, 1 unchanged, 0 rejected');
    const created = await shown('SHIRT');
    expect([created.images, created.variants.S.imageId]).toEqual([before.images, body.id]);
    // Images that no product has shown for a day are forgotten; this one is shown.
    expect(await forgetUnused(service)).toEqual([]);
    await expectFile();
    expect(await place.runHere(['media', 'check'])).toMatchObject({ status: 0 });
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
  });

  test('an import that races with the removal of an image keeps both image and file, or neither', async () => {
    await using imports = await startImports(kind);
    const { service, send, shown, place } = imports;
    await imports.take([{ sku: 'MUG', name: 'Mug', price: 5, currency: 'EUR' }]);
    const product = await shown('MUG');
    const path = `/v1/products/${product.id}/images`;
    for (let round = 0; round < 6; round++) {
      const { body } = await sendImage(service, product, plainPng(30, 30, round, 1, 1));
      const file = await imports.exported(`out-${round}.ndjson`);
      expect((await send('DELETE', `${path}/${body.id}`)).status).toBe(204);
      const load = async () => expect(await place.runHere(['import', file])).toMatchObject({ status: 0 });
      const forget = async () => forgetUnused(service);
      await Promise.all(round % 2 === 0 ? [load(), forget()] : [forget(), load()]);
      const { images } = await shown('MUG');
      const hash = body.url.slice('/media/'.length);
      expect(await createImageStore(service.database).has(service.database.read, hash)).toBe(
        images.length === 1,
      );
      if (images.length === 1) expect((await send('DELETE', `${path}/${body.id}`)).status).toBe(204);
    }
  });
});
