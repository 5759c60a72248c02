/** Files are read only when their turn comes: many requests at once do not hold many large files in memory. */
import { expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { plainPng, sendImage } from '../support/data/images.ts';
import { startTestService } from '../support/service/service.ts';

test('at most four images are read at a time when sizes of many are requested at once', async () => {
  const files = new Map<string, ArrayBuffer>();
  let [reading, most] = [0, 0];
  let pause: () => Promise<unknown> = () => Promise.resolve();
  await using server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.method === 'PUT') {
        files.set(pathname, await request.arrayBuffer());
        return new Response(null, { headers: { ETag: '"1"' } });
      }
      const file = files.get(pathname);
      if (file === undefined) return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 });
      if (request.method === 'HEAD')
        return new Response(null, { headers: { 'Content-Length': `${file.byteLength}` } });
      reading += 1;
      most = Math.max(most, reading);
      await pause();
      reading -= 1;
      return new Response(file);
    },
  });
  const url = `s3://key:secret@bucket/?endpoint=${encodeURIComponent(server.url.origin)}&region=us-east-1`;
  // The cache is too small for any file, so each has to be read again.
  await using service = await startTestService('sqlite', { MEDIA_URL: url, MEDIA_CACHE_LIMIT: '1' });
  const images: string[] = [];
  for (let red = 0; red < 12; red++) {
    const { body } = await sendImage(service, await addProduct(service), plainPng(80, 80, red, 0, 0));
    images.push(service.url + body.url);
    expect((await fetch(service.url + body.url)).status).toBe(200);
  }
  most = 0;
  // As long as a few requests that need no image take; by then all others have arrived.
  pause = async () => {
    for (let round = 0; round < 5; round++) await fetch(`${service.url}/health`);
  };
  const statuses = await Promise.all(images.map(async image => (await fetch(`${image}?w=64`)).status));
  expect(statuses).toEqual(images.map(() => 200));
  expect(most).toBe(4);
});
