/** `/media/{hash}`: files as stored, and in the requested sizes and formats. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addProduct } from '../support/data/catalog.ts';
import { animatedWebp, gif, jpeg, noise, png, sendImage } from '../support/data/images.ts';
import { call, type Received } from '../support/http/http.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const halfClear = png(900, 600, { pixel: (x, y) => [x & 255, y & 255, 80, x < 450 ? 0 : 255] });

describe('images that are served', () => {
  let folder: string;
  let service: TestService;
  /** The addresses of the images. */
  let clear: string;
  let photo: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
    service = await startTestService('sqlite', { DATA_DIR: folder, MEDIA_CACHE_LIMIT: '60000' });
    clear = await kept(halfClear);
    photo = await kept(await jpeg(2000, 1500));
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const kept = async (file: Uint8Array): Promise<string> =>
    (await sendImage(service, await addProduct(service), file)).body.url;
  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(service.url + path, { headers });
  const refused = (path: string): Promise<Received> => call(service, { path });

  test('the original file has every header that limits browsers to showing it', async () => {
    const response = await get(photo);
    const hash = photo.slice('/media/'.length);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'cache-control': 'public, max-age=31536000, immutable',
      etag: `"${hash}"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'content-disposition': `inline; filename="${hash.slice(0, 16)}.jpg"`,
      vary: 'Origin, Prefer',
    });
    expect(response.headers.get('Content-Encoding')).toBeNull();
    expect(new Bun.CryptoHasher('sha256').update(await response.bytes()).digest('hex')).toBe(hash);
  });

  const made: readonly (readonly [query: string, width: number, height: number, format: string])[] = [
    ['w=200', 200, 133, 'png'],
    ['h=100', 150, 100, 'png'],
    ['w=200&h=200', 200, 133, 'png'],
    ['w=200&h=200&fit=contain', 200, 133, 'png'],
    ['w=200&h=200&fit=cover', 200, 200, 'png'],
    ['w=200&h=200&fit=fill', 200, 200, 'png'],
    ['w=100&h=300&fit=cover&format=webp', 100, 300, 'webp'],
    ['w=200&format=jpeg', 200, 133, 'jpeg'],
    ['format=webp', 900, 600, 'webp'],
    // Nothing is enlarged.
    ['w=2560', 900, 600, 'png'],
    ['w=2560&h=64&fit=cover', 900, 23, 'png'],
    ['w=2560&h=2560&fit=cover', 600, 600, 'png'],
    ['w=1920&h=1920&fit=fill', 900, 900, 'png'],
  ];
  test.each(made)('900 × 600 with %s: %d × %d as %s', async (query, width, height, format) => {
    const response = await get(`${clear}?${query}`);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, `image/${format}`]);
    const found = await new Bun.Image(await response.bytes()).metadata();
    expect(found).toEqual({ width, height, format: format as Bun.Image.Format });
  });

  test('transparent pixels are white in a JPEG', async () => {
    const response = await get(`${clear}?w=200&format=jpeg`);
    const small = await new Bun.Image(await response.bytes()).resize(2, 1, { filter: 'box' }).png().bytes();
    const left = await pixel(small);
    expect(Math.min(...left)).toBeGreaterThan(240);
  });

  test('animations and formats without an encoder give the first picture', async () => {
    const moving = await kept(await animatedWebp(80, 60, ''));
    const small = await new Bun.Image(await (await get(`${moving}?w=64`)).bytes()).metadata();
    expect(small).toEqual({ width: 64, height: 48, format: 'webp' });
    const one = await get(`${await kept(gif())}?w=64`);
    expect(one.headers.get('Content-Type')).toBe('image/webp');
  });

  const wrong: readonly (readonly [path: string, status: number, error: string, field?: string])[] = [
    ['?w=201', 400, 'VALIDATION_FAILED', 'w'],
    ['?w=0', 400, 'VALIDATION_FAILED', 'w'],
    ['?h=-100', 400, 'VALIDATION_FAILED', 'h'],
    ['?w=1e2', 400, 'VALIDATION_FAILED', 'w'],
    ['?w=100&w=200', 400, 'VALIDATION_FAILED', 'w'],
    ['?w=200&fit=crop', 400, 'VALIDATION_FAILED', 'fit'],
    ['?format=svg', 400, 'VALIDATION_FAILED', 'format'],
    ['?format=avif', 400, 'VALIDATION_FAILED', 'format'],
  ];
  test.each(wrong)('%s: %d %s', async (query, status, error, field) => {
    const { status: found, body } = await refused(clear + query);
    expect([found, body.error, body.details?.[0]?.field]).toEqual([status, error, field]);
  });

  test('an unsupported size is refused with a list of the supported ones', async () => {
    expect((await refused(`${clear}?w=201`)).body.message).toContain('must be one of 64, 100, 128,');
  });

  test.each([
    '/media/abc',
    `/media/${'0'.repeat(64)}`,
    `/media/${'A'.repeat(64)}`,
    '/media/..%2f..%2fjwt-secret',
    `/media/${'0'.repeat(62)}..`,
  ])('%s: 404', async path => {
    expect((await refused(path)).status).toBe(404);
  });

  test('HEAD and OPTIONS are the only other methods', async () => {
    const head = await fetch(`${service.url}${clear}?w=300`, { method: 'HEAD' });
    const full = await get(`${clear}?w=300`);
    expect(head.headers.get('Content-Length')).toBe(String((await full.bytes()).length));
    const options = await call(service, { path: clear, method: 'OPTIONS' });
    expect([options.status, options.headers.get('Allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect((await call(service, { path: clear, method, as: 'admin' })).status).toBe(405);
  });

  test('the file and its other sizes are 304 for a client that has them', async () => {
    for (const path of [photo, `${photo}?w=300`, `${photo}?w=300&format=webp`]) {
      const etag = (await get(path)).headers.get('ETag') ?? '';
      expect((await get(path, { 'If-None-Match': etag })).status).toBe(304);
      expect((await get(path, { 'If-None-Match': '"other"' })).status).toBe(200);
      expect((await get(path, { 'If-Match': '"other"' })).status).toBe(412);
    }
    const tags = await Promise.all(
      ['', '?w=300', '?w=320', '?w=300&format=webp'].map(async query =>
        (await get(photo + query)).headers.get('ETag'),
      ),
    );
    expect(new Set(tags).size).toBe(4);
  });

  describe('ranges', () => {
    const ranges: readonly (readonly [range: string, first: number | undefined, last?: number])[] = [
      ['bytes=0-9', 0, 9],
      ['bytes=10-', 10, -1],
      ['bytes=-5', -5, -1],
      ['bytes=0-99999999', 0, -1],
      ['bytes=-99999999', 0, -1],
      ['BYTES=3-3', 3, 3],
      // Invalid ranges and several ranges at once get the whole file.
      ['bytes=0-1,5-6', undefined],
      ['bytes=9-1', undefined],
      ['bytes=-', undefined],
      ['bytes=a-b', undefined],
      ['pages=1-2', undefined],
    ];
    // Served from memory, and from the file.
    for (const which of ['small', 'large'] as const) {
      test.each(ranges)(`${which}: %s`, async (range, first, last = 0) => {
        const path = which === 'small' ? `${photo}?w=300` : await large();
        const whole = await (await get(path)).bytes();
        const response = await get(path, { Range: range });
        const bytes = await response.bytes();
        if (first === undefined) {
          expect([response.status, bytes.length]).toEqual([200, whole.length]);
          return;
        }
        const [from, to] = [(first + whole.length) % whole.length, (last + whole.length) % whole.length];
        expect([response.status, response.headers.get('Content-Range')]).toEqual([
          206,
          `bytes ${from}-${to}/${whole.length}`,
        ]);
        expect(Buffer.from(bytes).equals(whole.subarray(from, to + 1))).toBe(true);
      });
    }
    let address: Promise<string> | undefined;
    const large = (): Promise<string> => {
      address ??= kept(noise(700, 500));
      return address;
    };

    test('a range behind the end is 416, with the length', async () => {
      const whole = await (await get(photo)).bytes();
      for (const range of [`bytes=${whole.length}-`, 'bytes=-0']) {
        const response = await call(service, { path: photo, headers: { Range: range } });
        expect([response.status, response.body.error]).toEqual([416, 'RANGE_NOT_SATISFIABLE']);
        expect(response.headers.get('Content-Range')).toBe(`bytes */${whole.length}`);
      }
    });

    test('If-Range gives the part of an unchanged file, or the whole of a changed one', async () => {
      const etag = (await get(photo)).headers.get('ETag') ?? '';
      const ask = async (condition: string) =>
        (await get(photo, { Range: 'bytes=0-0', 'If-Range': condition })).status;
      expect(await ask(etag)).toBe(206);
      expect(await ask('"other"')).toBe(200);
      expect(await ask(`W/${etag}`)).toBe(200);
      expect(await ask('Thu, 15 Jan 2026 09:30:00 GMT')).toBe(200);
    });
  });

  test('concurrent requests for one size get the same picture, which is cached once', async () => {
    const path = `${photo}?w=640&h=640&fit=cover&format=jpeg`;
    const before = charged();
    const all = await Promise.all(Array.from({ length: 20 }, async () => (await get(path)).bytes()));
    expect(new Set(all.map(bytes => Bun.hash(bytes))).size).toBe(1);
    expect(charged()).toEqual(before);
    expect(filesIn('media-cache').filter(name => name.includes('640x640-cover')).length).toBe(1);
  });
  const charged = () => service.log().filter(({ level }) => level === 'error' || level === 'warn');
  const filesIn = (name: string): string[] =>
    readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' }).filter(path => path.includes('-'));

  test('the cache of other sizes stays below its limit', async () => {
    for (const size of [200, 300, 400, 500, 600, 800])
      expect((await get(`${photo}?w=${size}`)).status).toBe(200);
    const total = filesIn('media-cache')
      .map(name => statSync(join(folder, 'media-cache', name)).size)
      .reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(1000);
    expect(total).toBeLessThanOrEqual(60_000);
  });

  test('files are accessible only to the user of the service', async () => {
    await get(`${clear}?w=64`);
    for (const name of ['media', 'media-cache']) {
      const path = join(folder, name);
      expect([name, existsSync(path), statSync(path).mode & 0o077]).toEqual([name, true, 0]);
      const entries = readdirSync(path, { recursive: true, withFileTypes: true });
      const files = entries.filter(entry => entry.isFile());
      expect([name, files.length > 0]).toEqual([name, true]);
      for (const file of files) {
        const { mode } = statSync(join(file.parentPath, file.name));
        expect([name, file.name, mode & 0o077]).toEqual([name, file.name, 0]);
      }
    }
  });
});

test('making other sizes has a quota of its own; reading existing ones has none', async () => {
  const service = await startTestService('sqlite', { RATE_LIMIT: '20' });
  const product = await addProduct(service);
  const { url } = (await sendImage(service, product, png(300, 200))).body;
  const ask = async (size: number) => (await fetch(`${service.url}${url}?w=${size}&format=webp`)).status;
  const sizes = [
    64, 100, 128, 150, 200, 256, 300, 320, 400, 480, 500, 512, 600, 640, 800, 960, 1000, 1024, 1200, 1280,
    1600,
  ];
  const statuses: number[] = [];
  for (const size of sizes) statuses.push(await ask(size));
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
  for (let count = 0; count < 40; count++) expect(await ask(64)).toBe(200);
  expect((await fetch(service.url + url)).status).toBe(200);
  const limited = await call(service, { path: `${url}?w=1600&format=webp` });
  expect([limited.status, limited.body.error]).toEqual([429, 'RATE_LIMITED']);
  await service.stop();
});

test('the metrics count images that are uploaded, refused, made and already there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
  await using service = await startTestService('sqlite', { DATA_DIR: folder });
  const numbers = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const lines = text.split('\n').filter(line => line.startsWith('catalog_media_'));
    return Object.fromEntries(lines.map(line => [line.split(' ')[0], Number(line.split(' ')[1])]));
  };
  const named = (kept: number, refused: number, hit: number, made: number) => ({
    'catalog_media_uploads_total{result="kept"}': kept,
    'catalog_media_uploads_total{result="refused"}': refused,
    'catalog_media_variants_total{result="hit"}': hit,
    'catalog_media_variants_total{result="made"}': made,
  });
  expect(await numbers()).toMatchObject({ ...named(0, 0, 0, 0), catalog_media_cache_bytes: 0 });
  const product = await addProduct(service);
  const file = png(300, 200);
  const { url } = (await sendImage(service, product, file)).body;
  expect((await sendImage(service, product, file.subarray(0, -30))).status).toBe(422);
  const small = [];
  for (let time = 0; time < 3; time++) small.push(await (await fetch(`${service.url}${url}?w=64`)).bytes());
  const bytes = small[0]?.length;
  expect(await numbers()).toEqual({
    ...named(1, 1, 2, 1),
    catalog_media_upload_bytes_total: (await (await fetch(service.url + url)).bytes()).length,
    catalog_media_variant_bytes_total: bytes,
    catalog_media_cache_bytes: bytes,
  });
  rmSync(folder, { recursive: true });
});

/** The first pixel of a PNG. */
async function pixel(file: Uint8Array): Promise<number[]> {
  const { decodePixels: pixelsOf } = await import('../../src/media/pixels.ts');
  return [...(await pixelsOf(new Bun.Image(file))).rgba.subarray(0, 3)];
}
