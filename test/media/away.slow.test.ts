/** Unreachable stores, names of files, and refused settings of the store. */
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { addProduct, read } from '../support/data/catalog.ts';
import { png, sendImage } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { startS3 } from '../support/peers/s3.ts';
import { startTestService } from '../support/service/service.ts';

test('while S3 is away, uploads and images that are not cached are 503; they work again when it returns', async () => {
  const s3 = await startS3();
  const folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
  const service = await startTestService('sqlite', { DATA_DIR: folder, MEDIA_URL: s3.url });
  const product = await addProduct(service);
  const [here, away] = [
    (await sendImage(service, product, png(200, 100))).body,
    (await sendImage(service, product, png(201, 100))).body,
  ];
  expect((await fetch(`${service.url}${here.url}?w=100`)).status).toBe(200);
  await s3.stop();
  expect((await fetch(`${service.url}${here.url}?w=100`)).status).toBe(200);
  const missing = await call(service, { path: `${away.url}?w=100` });
  expect([missing.status, missing.body.error]).toEqual([503, 'MEDIA_UNAVAILABLE']);
  expect(missing.headers.get('Retry-After')).toBe('5');
  const refused = await sendImage(service, product, png(202, 100));
  expect([refused.status, refused.body.error]).toEqual([503, 'MEDIA_UNAVAILABLE']);
  expect((await read(service, product)).body.images).toHaveLength(2);
  // Cached images are also served after a restart.
  const restarted = await service.replica();
  for (const query of ['?w=100', '', '?w=200'])
    expect([query, (await fetch(restarted.url + here.url + query)).status]).toEqual([query, 200]);
  expect((await fetch(restarted.url + away.url)).status).toBe(503);
  await restarted.stop();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('files are named by the hash of their content, in folders of its first two letters', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
  const service = await startTestService('sqlite', { DATA_DIR: folder });
  const { url } = (await sendImage(service, await addProduct(service), png(9, 9))).body;
  const hash = url.slice('/media/'.length);
  const path = join(folder, 'media', hash.slice(0, 2), hash);
  expect(existsSync(path)).toBe(true);
  expect(new Bun.CryptoHasher('sha256').update(readFileSync(path)).digest('hex')).toBe(hash);
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const wrongPlaces: readonly (readonly [value: string, rule: RegExp])[] = [
  ['/var/media', /^MEDIA_URL: must be s3:\/\/bucket/],
  ['https://bucket.s3.example', /^MEDIA_URL: must be s3:/],
  ['s3://', /^MEDIA_URL: must be s3:/],
  ['s3://bucket?endpoint=example', /^MEDIA_URL: has an endpoint/],
  ['s3://bucket?acl=public', /^MEDIA_URL: accepts only the parameters endpoint, region, virtualHostedStyle/],
  ['s3://key@bucket/prefix', /^MEDIA_URL: needs both parts of s3:\/\/key:secret@bucket/],
  ['file://host/folder', /^MEDIA_URL: must be s3:/],
  [
    's3://bucket?virtualHostedStyle=yes',
    /^MEDIA_URL: has a virtualHostedStyle that is neither true nor false$/,
  ],
  ['s3://bucket/%zz', /^MEDIA_URL: has a path or key that cannot be decoded: write % as %25$/],
  ['s3://key:half%of@bucket', /^MEDIA_URL: has a path or key that cannot be decoded: write % as %25$/],
  ['s3://bucket/a%5Cb', /^MEDIA_URL: has a prefix with a backslash, a control character, or a part/],
  ['s3://bucket/a%00b', /^MEDIA_URL: has a prefix with a backslash, a control character, or a part/],
  ['s3://bucket/a%2F..%2Fb', /^MEDIA_URL: has a prefix with a backslash, a control character, or a part/],
  ['file:///mnt/%zz', /^MEDIA_URL: has a path or key that cannot be decoded: write % as %25$/],
];
test.each(wrongPlaces)('the setting %s is refused', (value, rule) => {
  const load = () => loadConfig({ MEDIA_URL: value });
  expect(load).toThrow(rule);
});
