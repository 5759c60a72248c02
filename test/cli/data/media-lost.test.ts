/** `catalog media check` without the folder of images removes nothing from products. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addProduct, type Product, read } from '../../support/data/catalog.ts';
import { plainPng, sendImage } from '../../support/data/images.ts';
import { serviceSecret, startTestService, type TestService } from '../../support/service/service.ts';
import { runHere } from '../here.ts';

let folder: string;
let media: string;
let settings: Record<string, string>;
let service: TestService;
let product: Product;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
  media = join(folder, 'shared');
  mkdirSync(media);
  settings = { DATA_DIR: folder, MEDIA_URL: pathToFileURL(media).href, JWT_SECRET: serviceSecret };
  service = await startTestService('sqlite', settings);
});
beforeEach(async () => {
  product = await addProduct(service);
  for (const red of [1, 2])
    expect((await sendImage(service, product, plainPng(12, 12, red, 1, 1))).status).toBe(201);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const check = (...options: string[]) => runHere(['media', 'check', ...options], settings);
const shown = async () => (await read(service, product)).body.images.length;

const replaced: readonly (readonly [how: string, make: () => void, reason: string])[] = [
  ['is not there', () => undefined, 'is not there'],
  ['is a file', () => writeFileSync(media, 'a file'), 'is not a folder'],
];
test.each(replaced)('check reports that the folder %s, and changes nothing', async (_, make, reason) => {
  renameSync(media, `${media}-moved`);
  make();
  for (const options of [[], ['--repair'], ['--repair', '--all-files-are-lost']]) {
    expect(await check(...options)).toEqual({
      status: 1,
      out: '',
      err: `catalog media: the images cannot be reached: ${media} ${reason}; nothing was changed\n`,
    });
  }
  expect(await shown()).toBe(2);
  rmSync(media, { force: true });
  renameSync(`${media}-moved`, media);
  expect(await check('--repair')).toMatchObject({ status: 0, err: '' });
});

test('with an empty folder --repair requires --all-files-are-lost', async () => {
  renameSync(media, `${media}-moved`);
  mkdirSync(media);
  expect(await check()).toMatchObject({ status: 1, err: '' });
  const refused = await check('--repair');
  expect(refused.status).toBe(1);
  expect(refused.err).toStartWith(`catalog media: none of the image files is in ${media}, so nothing was`);
  expect(await shown()).toBe(2);
  const repaired = await check('--repair', '--all-files-are-lost');
  expect([repaired.status, repaired.out.trimEnd().split('\n').at(-1)]).toEqual([0, '2 repaired']);
  expect(await shown()).toBe(0);
  rmSync(media, { recursive: true });
  renameSync(`${media}-moved`, media);
});
