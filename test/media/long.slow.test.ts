/** Long pictures, whose stretching needs no more pixels in between than at the end; and long work, which takes turns. */
import { expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { plainPng, sendImage } from '../support/data/images.ts';
import { countTurns } from '../support/samples/slow-clock.ts';
import { startTestService } from '../support/service/service.ts';

test.each([
  [1, 60_000],
  [60_000, 1],
])('%d × %d pixels, to fill a square', async (width, height) => {
  await using service = await startTestService('sqlite');
  const { body } = await sendImage(service, await addProduct(service), plainPng(width, height, 10, 200, 30));
  const response = await fetch(`${service.url}${body.url}?w=2560&h=2560&fit=fill&format=webp`);
  expect(response.status).toBe(200);
  expect(await new Bun.Image(await response.bytes()).metadata()).toMatchObject({ width: 2560, height: 2560 });
});

test('a picture that is cropped takes a turn for each row that is copied', async () => {
  await using service = await startTestService('sqlite');
  const { body } = await sendImage(service, await addProduct(service), plainPng(300, 600, 10, 200, 30));
  const turns = await countTurns(() => fetch(`${service.url}${body.url}?w=256&h=256&fit=cover`));
  // Of 256 × 512 pixels, half are cut out.
  expect(turns).toBeGreaterThan(512 + 256 + 256);
});
