/** `/media/{hash}`: the address decides on the format; Accept can only refuse it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addProduct } from '../support/data/catalog.ts';
import { png, sendImage } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describe('Accept of images', () => {
  let folder: string;
  let service: TestService;
  let picture: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
    service = await startTestService('sqlite', { DATA_DIR: folder });
    picture = (await sendImage(service, await addProduct(service), png(300, 200))).body.url;
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const answers: readonly (readonly [accept: string, query: string, status: number, type: string])[] = [
    ['image/png', '', 200, 'image/png'],
    ['image/*', '', 200, 'image/png'],
    ['image/avif,image/webp,*/*;q=0.8', '', 200, 'image/png'],
    ['image/webp', '?w=64&format=webp', 200, 'image/webp'],
    ['application/problem+json', '', 200, 'image/png'],
    ['image/webp', '', 406, 'application/json'],
    ['image/png;q=0, */*', '', 406, 'application/json'],
    ['image/png', '?w=64&format=webp', 406, 'application/json'],
    ['image/jpeg', '?w=64', 406, 'application/json'],
    ['text/html', '', 406, 'application/json'],
  ];
  test.each(answers)(
    'Accept: %s for the PNG with "%s" is answered %d',
    async (accept, query, status, type) => {
      for (const method of ['GET', 'HEAD']) {
        const { status: found, headers } = await call(service, {
          method,
          path: picture + query,
          headers: { Accept: accept },
        });
        expect([found, headers.get('Content-Type')]).toEqual([status, type]);
      }
    },
  );

  test('a format that Accept does not allow is named, and not made', async () => {
    const { status, body } = await call(service, {
      path: `${picture}?w=128&format=webp`,
      headers: { Accept: 'image/jpeg' },
    });
    expect([status, body.error, body.message]).toEqual([
      406,
      'NOT_ACCEPTABLE',
      'Accept must allow one of image/webp.',
    ]);
    const cache = join(folder, 'media-cache');
    const names = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }) : [];
    expect(names.filter(name => name.includes('128'))).toEqual([]);
  });
});
