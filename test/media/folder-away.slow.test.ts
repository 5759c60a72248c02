/** A folder of images that is missing, not a folder, or not writable; and a cache that fails. */
import { afterEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createPlace, waitFor } from '../cli/program.ts';
import { addProduct, read } from '../support/data/catalog.ts';
import { png, sendImage } from '../support/data/images.ts';
import { call, type Received } from '../support/http/http.ts';
import { startS3 } from '../support/peers/s3.ts';
import { signIn, startTestService, type TestService } from '../support/service/service.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
  folders.push(folder);
  return folder;
}

const expectAway = ({ status, body, headers }: Received) =>
  expect([status, body.error, headers.get('Retry-After')]).toEqual([503, 'MEDIA_UNAVAILABLE', '5']);
const get = (service: TestService, { url }: { url: string }, query = '') =>
  call(service, { path: url + query });
const status = async (service: TestService, { url }: { url: string }, query = '') =>
  (await fetch(service.url + url + query)).status;

test.each(['own', 'shared'])('while the %s folder is away, images and uploads are 503', async which => {
  const folder = newFolder();
  const media = join(folder, which === 'own' ? 'media' : 'shared');
  const place: Record<string, string> = which === 'own' ? {} : { MEDIA_URL: pathToFileURL(media).href };
  await using service = await startTestService('sqlite', { DATA_DIR: folder, ...place });
  if (which === 'shared') while (!existsSync(media)) await new Promise(resolve => setImmediate(resolve));
  const product = await addProduct(service);
  const image = (await sendImage(service, product, png(200, 100))).body;
  expect(await status(service, image, '?w=64')).toBe(200);
  renameSync(media, `${media}-moved`);
  expectAway(await get(service, image));
  expectAway(await get(service, image, '?w=100'));
  expectAway(await get(service, { url: `/media/${'0'.repeat(64)}` }));
  expect(await status(service, image, '?w=64')).toBe(200);
  expectAway(await sendImage(service, product, png(201, 100)));
  expect(existsSync(media)).toBe(false);
  expect((await read(service, product)).body.images).toHaveLength(1);
  renameSync(`${media}-moved`, media);
  expect(await status(service, image)).toBe(200);
  expect((await sendImage(service, product, png(201, 100))).status).toBe(201);
});

test('a file in the place of the folder is 503, and the log says what is wrong', async () => {
  const folder = newFolder();
  const media = join(folder, 'shared');
  writeFileSync(media, 'a file');
  const settings = { DATA_DIR: folder, MEDIA_URL: pathToFileURL(media).href };
  await using service = await startTestService('sqlite', settings);
  const product = await addProduct(service);
  expectAway(await sendImage(service, product, png(200, 100)));
  expectAway(await get(service, { url: `/media/${'0'.repeat(64)}` }));
  const log = JSON.stringify(service.log());
  expect(log).toContain(`"place":"${media}","reason":"${media} is not a folder"`);
  expect(log).toContain('ENOTDIR');
  expect(log).not.toContain('EFAULT');
});

test('a folder that is not there at the start though images were kept is not made, and the log says so', async () => {
  const folder = newFolder();
  const media = join(folder, 'shared');
  const settings = { DATA_DIR: folder, MEDIA_URL: pathToFileURL(media).href };
  mkdirSync(media);
  await using service = await startTestService('sqlite', settings);
  const product = await addProduct(service);
  const image = (await sendImage(service, product, png(200, 100))).body;
  const lines = (replica: TestService) =>
    replica.log().filter(({ message }) => String(message).startsWith('the image store'));
  const linesOf = async (replica: TestService) => {
    while (lines(replica).length === 0) await new Promise(resolve => setImmediate(resolve));
    return lines(replica).map(({ level, reason }) => [level, reason]);
  };
  renameSync(media, `${media}-moved`);
  {
    await using replica = await service.replica();
    expect(await linesOf(replica)).toEqual([['warn', `${media} is not there`]]);
    expectAway(await sendImage(replica, product, png(201, 100)));
    expectAway(await get(replica, image));
  }
  mkdirSync(media);
  {
    await using replica = await service.replica();
    const reason = `${media}: the store is empty although images were stored: it is another store, or a share that is not mounted`;
    expect(await linesOf(replica)).toEqual([['warn', reason]]);
  }
});

const readOnly = [
  ...['unshare', '--user', '--map-root-user', '--mount'],
  ...['sh', '-c', 'mount -t tmpfs -o ro tmpfs "$READ_ONLY" && exec "$@"', 'sh'],
];
const canMount =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  Bun.spawnSync([...readOnly, 'true'], { env: { PATH: process.env.PATH ?? '', READ_ONLY: newFolder() } })
    .exitCode === 0;

test.skipIf(!canMount)('an upload to a folder that is mounted for reading only is 503', async () => {
  const media = newFolder();
  const [email, secret] = ['admin@test.example', 'correct horse battery'];
  const place = await createPlace('sqlite', {
    ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1' },
    ...{ MEDIA_URL: pathToFileURL(media).href, READ_ONLY: media },
  });
  const child = place.start(['serve', '--port', '0'], readOnly);
  const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
  await waitFor(child.stdout, /the image store .* cannot be used.*EROFS/);
  const token = await signIn(url, email, secret);
  const service = { url, tokens: { admin: token, editor: token, user: token } };
  const made = await call(service, {
    ...{ method: 'POST', path: '/v1/products', as: 'editor', body: { name: 'Lamp', price: 1 } },
  });
  const path = `/v1/products/${made.body.id}/images`;
  const headers = { 'Content-Type': 'image/png' };
  expectAway(await call(service, { method: 'POST', path, as: 'editor', body: png(200, 100), headers }));
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  place.remove();
});

test.each(['folder', 's3'])('a failing cache acts as an empty one, with images in %s', async where => {
  const folder = newFolder();
  const s3 = where === 's3' ? await startS3() : undefined;
  const place: Record<string, string> = s3 === undefined ? {} : { MEDIA_URL: s3.url };
  const cache = join(folder, 'media-cache');
  writeFileSync(cache, 'a file');
  await using service = await startTestService('sqlite', { DATA_DIR: folder, ...place });
  const image = (await sendImage(service, await addProduct(service), png(200, 100))).body;
  for (const query of ['', '?w=64', '?w=64']) expect(await status(service, image, query)).toBe(200);
  expect(JSON.stringify(service.log())).toContain('an image could not be written to media-cache');
  // Once the folder is back, new files are kept: no restart is needed.
  rmSync(cache);
  expect(await status(service, image, '?w=64')).toBe(200);
  expect(existsSync(cache)).toBe(true);
  rmSync(cache, { recursive: true });
  writeFileSync(cache, 'a file');
  for (const query of ['', '?w=64', '?w=100']) expect(await status(service, image, query)).toBe(200);
  await s3?.stop();
});
