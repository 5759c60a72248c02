/** Files whose content does not match their name: none is served or kept, and uploading the right file repairs them. */
import { afterAll, afterEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addProduct } from '../support/data/catalog.ts';
import { noise, plainPng, sendImage } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { startS3, type TestS3 } from '../support/peers/s3.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of undo.splice(0).reverse()) await end();
});
/** One server for all tests: its start takes longer than most of them. */
let server: Promise<TestS3> | undefined;
afterAll(async () => (await server)?.stop());

interface Place {
  readonly service: TestService;
  readonly folder: string;
  /** Writes a file into the image store. */
  put(hash: string, content: Uint8Array): Promise<unknown>;
}

async function startIn(where: 'own' | 'shared' | 's3'): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const shared = join(folder, where === 'own' ? 'media' : 'shared');
  mkdirSync(shared);
  if (where === 's3') server ??= startS3();
  const s3 = where === 's3' ? await server : undefined;
  // Each test has its own part of the bucket.
  const prefix = crypto.randomUUID();
  const url = s3?.url.replace('some/prefix', prefix) ?? pathToFileURL(shared).href;
  const place: Record<string, string> = where === 'own' ? {} : { MEDIA_URL: url };
  const service = await startTestService('sqlite', { DATA_DIR: folder, ...place });
  undo.push(() => service.stop());
  return {
    service,
    folder,
    put: async (hash, content) =>
      s3 === undefined
        ? writeFileSync(join(shared, hash.slice(0, 2), hash), content)
        : s3.client.write(`${prefix}/${hash.slice(0, 2)}/${hash}`, content),
  };
}

const red = plainPng(300, 200, 255, 0, 0);
const blue = plainPng(300, 200, 0, 0, 255);
const upload = async (service: TestService, file: Uint8Array): Promise<{ url: string; hash: string }> => {
  const { url } = (await sendImage(service, await addProduct(service), file)).body;
  return { url, hash: url.slice('/media/'.length) };
};
const hashOf = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex');

async function expectDamaged(service: TestService, path: string): Promise<void> {
  const { status, body, headers } = await call(service, { path });
  expect([path, status, body.error]).toEqual([path, 503, 'MEDIA_UNAVAILABLE']);
  expect([headers.get('Retry-After'), headers.get('Cache-Control')]).toEqual(['5', 'no-store']);
  const line = service.log().findLast(({ message }) => message === 'request failed');
  expect(JSON.stringify(line)).toContain('the content from the store does not match the hash ');
}
async function fetchBytes(service: TestService, path: string): Promise<Uint8Array> {
  const response = await fetch(service.url + path);
  expect([path, response.status]).toEqual([path, 200]);
  return response.bytes();
}

const damages: readonly ((right: Uint8Array) => Uint8Array)[] = [
  () => blue,
  right => right.subarray(0, right.length - 20),
  () => Buffer.from('<html>Sign in</html>'),
  () => new Uint8Array(),
];
test.each(['own', 'shared', 's3'] as const)('in %s, a damaged file is 503 until restored', async where => {
  const { service, put } = await startIn(where);
  for (const [index, damage] of damages.entries()) {
    const right = plainPng(300, 200, 255, index, 0);
    const { url, hash } = await upload(service, right);
    await put(hash, damage(right));
    for (const query of ['?w=64', '', '?w=64']) await expectDamaged(service, url + query);
    await put(hash, right);
    expect(hashOf(await fetchBytes(service, url))).toBe(hash);
    const small = new Bun.Image(await fetchBytes(service, `${url}?w=64`)).resize(1, 1).png();
    expect(await small.bytes()).toEqual(await new Bun.Image(right).resize(1, 1).png().bytes());
  }
});

test.each(['own', 'shared', 's3'] as const)(
  'in %s, a second upload of the same picture repairs it',
  async where => {
    const { service, put } = await startIn(where);
    for (const [index, damage] of damages.entries()) {
      const right = plainPng(300, 200, 255, 0, index);
      const { url, hash } = await upload(service, right);
      await put(hash, damage(right));
      await expectDamaged(service, url);
      expect(await upload(service, right)).toEqual({ url, hash });
      expect(hashOf(await fetchBytes(service, url))).toBe(hash);
    }
  },
);

test.each([
  ['small', red],
  ['large', noise(600, 500)],
])('a wrong copy of a %s image in the cache is dropped with the sizes made from it', async (_, file) => {
  const { service, folder } = await startIn('s3');
  const { url, hash } = await upload(service, file);
  const small = await fetchBytes(service, `${url}?w=64`);
  const cached = join(folder, 'media-cache', hash.slice(0, 2), `${hash}-`);
  mkdirSync(dirname(cached), { recursive: true });
  writeFileSync(`${cached}original`, noise(601, 500));
  writeFileSync(`${cached}64x-2.png`, blue);
  await using replica = await service.replica();
  expect(hashOf(await fetchBytes(replica, url))).toBe(hash);
  expect(await fetchBytes(replica, `${url}?w=64`)).toEqual(small);
  expect(replica.log()).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      message: 'a damaged cached image was removed',
      hash,
    }),
  );
  expect(hashOf(await fetchBytes(replica, url))).toBe(hash);
});

test('a large file that was damaged before the start is not served', async () => {
  const { service, put } = await startIn('shared');
  const { url, hash } = await upload(service, noise(600, 500));
  await put(hash, noise(601, 500));
  await using replica = await service.replica();
  await expectDamaged(replica, url);
});
