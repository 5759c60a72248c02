/** What operators learn about images: the addresses of requests, and why a store cannot be used. */
import { expect, test } from 'bun:test';
import { createCatalog, waitFor } from '../cli/program.ts';
import { addProduct } from '../support/data/catalog.ts';
import { noise, sendImage } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { startS3 } from '../support/peers/s3.ts';
import { signIn, startTestService, type TestService } from '../support/service/service.ts';

const unknown = `/media/${'0'.repeat(64)}`;
const causeOf = (service: TestService) =>
  service.log().findLast(({ message }) => message === 'request failed')?.cause;

test('an S3 that cannot be reached: the log says why at the start and for each request, without the key', async () => {
  // Nothing listens there.
  const endpoint = encodeURIComponent('http://127.0.0.1:9');
  const settings = { MEDIA_URL: `s3://key:very-secret@media/prefix?endpoint=${endpoint}&region=us-east-1` };
  await using service = await startTestService('sqlite', settings);
  expect((await call(service, { path: unknown })).status).toBe(503);
  expect(causeOf(service)).toMatchObject({ error: 'S3Error', code: 'ConnectionRefused' });
  const start = /^the image store/;
  while (!service.log().some(({ message }) => start.test(String(message))))
    await new Promise(resolve => setImmediate(resolve));
  const line = service.log().find(({ message }) => start.test(String(message)));
  expect(line?.reason).toBe('an unexpected error has occurred (ConnectionRefused)');
  expect(JSON.stringify(service.log())).not.toContain('very-secret');
});

test('an S3 without a key: the log says at the start and for each request what to set', async () => {
  const place = await createCatalog('sqlite', {
    ...{ MEDIA_URL: 's3://media/prefix?endpoint=http://127.0.0.1:9', HOST: '127.0.0.1' },
  });
  const child = place.start(['serve', '--port', '0']);
  const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
  expect((await fetch(url + unknown)).status).toBe(503);
  child.kill('SIGTERM');
  const lines = (await child.stdout.text())
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const reason =
    'no key is set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name the key in MEDIA_URL';
  expect(
    lines.flatMap(({ reason: at, cause }) => [at, cause?.reason]).filter(one => one === reason),
  ).toHaveLength(2);
  expect(await child.exited).toBe(0);
  place.remove();
});

test('a bucket that is not there is 503, a file that is not there 404', async () => {
  const s3 = await startS3();
  await using service = await startTestService('sqlite', {
    MEDIA_URL: s3.url.replace('@media/', '@missing/'),
  });
  const missing = await call(service, { path: unknown });
  expect([missing.status, missing.body.error]).toEqual([503, 'MEDIA_UNAVAILABLE']);
  expect(causeOf(service)).toMatchObject({ error: 'S3Error', code: 'NoSuchBucket' });
  await using other = await startTestService('sqlite', { MEDIA_URL: s3.url });
  expect((await call(other, { path: unknown })).status).toBe(404);
  await s3.stop();
});

test.each([404, 200])('an endpoint that is %i for everything is not taken for S3: 503', async status => {
  await using server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: () => new Response('<html>Welcome</html>', { status }),
  });
  const url = `s3://key:secret@bucket/prefix?endpoint=${encodeURIComponent(server.url.origin)}&region=us-east-1`;
  await using service = await startTestService('sqlite', { MEDIA_URL: url });
  expect((await call(service, { path: unknown })).status).toBe(503);
  expect((await sendImage(service, await addProduct(service), noise(30, 30))).status).toBe(503);
});

test('an S3 that refuses the key: the log names its code for reads too, though HEAD has none', async () => {
  const refusal =
    '<Error><Code>InvalidAccessKeyId</Code><Message>The key is not in our records.</Message></Error>';
  await using server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: ({ method }) => new Response(method === 'HEAD' ? null : refusal, { status: 403 }),
  });
  const url = `s3://key:very-secret@bucket/prefix?endpoint=${encodeURIComponent(server.url.origin)}&region=us-east-1`;
  await using service = await startTestService('sqlite', { MEDIA_URL: url });
  expect((await call(service, { path: unknown })).status).toBe(503);
  expect(causeOf(service)).toMatchObject({ error: 'S3Error', code: 'InvalidAccessKeyId' });
  expect(JSON.stringify(service.log())).not.toContain('very-secret');
});

test('the log shows the address of an image, and redacts other long paths', async () => {
  await using service = await startTestService('sqlite');
  const hash = '0'.repeat(64);
  const paths = [`/media/${hash}?w=64`, `/media/media/${hash}`, `/media/${hash}/${hash}`, `/v1/${hash}`];
  for (const path of [...paths, `/media/${hash}0`]) await fetch(service.url + path);
  const targets = service.log().flatMap(({ message, target }) => (message === 'request' ? [target] : []));
  expect(targets.slice(-5)).toEqual([
    `/media/${hash}?w=64`,
    '/media/media/[redacted]',
    '/media/[redacted]/[redacted]',
    '/v1/[redacted]',
    '/media/[redacted]',
  ]);
});

const limited = ['sh', '-c', `trap '' XFSZ; ulimit -f 8192; exec "$@"`, 'sh'];
test.skipIf(process.platform !== 'linux')(
  'an upload that the limit on the size of files refuses is 507',
  async () => {
    const [email, secret] = ['admin@test.example', 'correct horse battery'];
    const place = await createCatalog('sqlite', {
      ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1' },
    });
    const child = place.start(['serve', '--port', '0'], limited);
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const token = await signIn(url, email, secret);
    const service = { url, tokens: { admin: token, editor: token, user: token } };
    const made = await call(service, {
      ...{ method: 'POST', path: '/v1/products', as: 'editor', body: { name: 'Lamp', price: 1 } },
    });
    const upload = (body: Uint8Array) =>
      call(service, {
        ...{ method: 'POST', path: `/v1/products/${made.body.id}/images`, as: 'editor', body },
        headers: { 'Content-Type': 'image/png' },
      });
    const refused = await upload(noise(1300, 1100));
    expect([refused.status, refused.body.error]).toEqual([507, 'STORAGE_FULL']);
    expect((await upload(noise(30, 30))).status).toBe(201);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    place.remove();
  },
);
