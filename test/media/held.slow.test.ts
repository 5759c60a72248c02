/**
 * Files are read only when their turn comes: many requests at once do not hold many large files in memory, and cached
 * ones do not wait for a store that does not respond.
 */
import { expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { plainPng, sendImage } from '../support/data/images.ts';
import { startTestService } from '../support/service/service.ts';

interface SlowS3 extends AsyncDisposable {
  /** For MEDIA_URL. */
  readonly url: string;
  /** What each request to read a file waits for. */
  pause: () => Promise<unknown>;
  /** What each request whether there is a file waits for. */
  headPause: () => Promise<unknown>;
  /** The most files that were read at a time. */
  most: number;
}

function startSlowS3(): SlowS3 {
  const files = new Map<string, ArrayBuffer>();
  let reading = 0;
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (searchParams.has('list-type'))
        return new Response('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');
      if (request.method === 'PUT') {
        files.set(pathname, await request.arrayBuffer());
        return new Response(null, { headers: { ETag: '"1"' } });
      }
      const file = files.get(pathname);
      if (file === undefined) return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 });
      if (request.method === 'HEAD') {
        await s3.headPause();
        return new Response(null, { headers: { 'Content-Length': `${file.byteLength}` } });
      }
      reading += 1;
      s3.most = Math.max(s3.most, reading);
      await s3.pause();
      reading -= 1;
      return new Response(file);
    },
  });
  const endpoint = encodeURIComponent(server.url.origin);
  const s3: SlowS3 = {
    url: `s3://key:secret@bucket/?endpoint=${endpoint}&region=us-east-1`,
    pause: () => Promise.resolve(),
    headPause: () => Promise.resolve(),
    most: 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return s3;
}

test('at most four images are read at a time when many are requested at once', async () => {
  await using s3 = startSlowS3();
  // The cache is too small for any file, so each has to be read again.
  await using service = await startTestService('sqlite', { MEDIA_URL: s3.url, MEDIA_CACHE_LIMIT: '1' });
  const images: string[] = [];
  for (let red = 0; red < 12; red++) {
    const { body } = await sendImage(service, await addProduct(service), plainPng(80, 80, red, 0, 0));
    images.push(body.url);
    expect((await fetch(service.url + body.url)).status).toBe(200);
  }
  // As long as a few requests that need no image take; by then all others have arrived.
  s3.pause = async () => {
    for (let round = 0; round < 5; round++) await fetch(`${service.url}/health`);
  };
  // The replica has not yet seen any of them, and reads each to know its type.
  await using replica = await service.replica();
  for (const [at, query] of [
    [service.url, '?w=64'],
    [replica.url, ''],
  ]) {
    s3.most = 0;
    const statuses = await Promise.all(
      images.map(async image => (await fetch(`${at}${image}${query}`)).status),
    );
    expect(statuses).toEqual(images.map(() => 200));
    expect([at, s3.most]).toEqual([at, 4]);
  }
});

test('a cached image waits a second at most for an S3 that does not respond, also after a restart', async () => {
  await using s3 = startSlowS3();
  await using service = await startTestService('sqlite', { MEDIA_URL: s3.url });
  const { body } = await sendImage(service, await addProduct(service), plainPng(80, 80, 1, 0, 0));
  expect((await fetch(service.url + body.url)).status).toBe(200);
  s3.headPause = () => new Promise(() => undefined);
  await using replica = await service.replica();
  const start = performance.now();
  for (const query of ['', '?w=64', ''])
    expect((await fetch(replica.url + body.url + query)).status).toBe(200);
  // A request to S3 is given up after 20 seconds.
  expect(performance.now() - start).toBeLessThan(10_000);
});
