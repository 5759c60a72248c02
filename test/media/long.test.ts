/** Pictures much longer than wide: stretching them needs no more pixels in between than at the end. */
import { expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { plainPng, sendImage } from '../support/data/images.ts';
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
