/** Content codings: which one is chosen, what it decodes to, and which validators accompany it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import zlib from 'node:zlib';
import { createCompressor } from '../../src/http/response/compress.ts';
import { addProduct, type Product, pathOf } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const chosen: [acceptEncoding: string, coding: string | null][] = [
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['*', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'zstd'],
  ['br;q=0, zstd;q=0, gzip;q=0.001', 'gzip'],
  ['identity', null],
  ['identity;q=1, gzip;q=0.5', null],
  ['gzip;q=0', null],
  ['*;q=0', null],
  ['*;q=0, gzip', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['compress, x-unknown', null],
  ['', null],
];

const decoders: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
};

describeOnDatabases('compression on %s', kind => {
  let service: TestService;
  let large: Product;
  let small: Product;
  beforeAll(async () => {
    service = await startTestService(kind);
    large = await addProduct(service, { description: 'Wärme und Licht 💡 '.repeat(300) });
    small = await addProduct(service);
  });
  afterAll(() => service.stop());

  /** Requests the raw, undecoded bytes. */
  async function raw(path: string, headers: Record<string, string>, method = 'GET') {
    const options = {
      method,
      headers: { Authorization: `Bearer ${service.tokens.user}`, ...headers },
      decompress: false,
    };
    const response = await fetch(`${service.url}${path}`, options);
    return { status: response.status, headers: response.headers, bytes: await response.bytes() };
  }

  test.each(chosen)('Accept-Encoding: %s chooses %s', async (acceptEncoding, coding) => {
    const plain = await raw(pathOf(large), { 'Accept-Encoding': 'identity' });
    const etag = plain.headers.get('ETag') ?? '';
    for (const _ of ['compressed now', 'cached']) {
      const answer = await raw(pathOf(large), { 'Accept-Encoding': acceptEncoding });
      expect([answer.status, answer.headers.get('Content-Encoding')]).toEqual([200, coding]);
      expect(answer.headers.get('Vary')).toContain('Accept-Encoding');
      expect(answer.headers.get('Content-Length')).toBe(String(answer.bytes.byteLength));
      const decoded = coding === null ? answer.bytes : decoders[coding]?.(answer.bytes);
      expect(Buffer.from(decoded ?? []).equals(Buffer.from(plain.bytes))).toBe(true);
      expect(answer.headers.get('ETag')).toBe(coding === null ? etag : `${etag.slice(0, -1)}-${coding}"`);
      if (coding !== null) expect(answer.bytes.byteLength).toBeLessThan(plain.bytes.byteLength / 5);
    }
  });

  test('a small body is sent as it is', async () => {
    const answer = await raw(pathOf(small), { 'Accept-Encoding': 'br, gzip' });
    expect(answer.headers.get('Content-Encoding')).toBeNull();
    expect(JSON.parse(Buffer.from(answer.bytes).toString())).toEqual(small);
    expect(answer.headers.get('Vary')).toContain('Accept-Encoding');
  });

  test('the entity tag of a compressed response gets 304 only in its own coding, and passes If-Match in any', async () => {
    const product = await addProduct(service, { description: 'x'.repeat(3000) });
    for (const coding of Object.keys(decoders)) {
      const { headers } = await raw(pathOf(product), { 'Accept-Encoding': coding });
      const etag = headers.get('ETag') ?? '';
      const plain = (await raw(pathOf(product), { 'Accept-Encoding': 'identity' })).headers.get('ETag');
      for (const known of [etag, `W/${etag}`, plain, `${plain}, ${etag}`, '"other"']) {
        for (const acceptEncoding of [...Object.keys(decoders), 'identity']) {
          const fresh = await raw(pathOf(product), { 'Accept-Encoding': acceptEncoding });
          const tag = fresh.headers.get('ETag') ?? '';
          for (const method of ['GET', 'HEAD']) {
            const headers = { 'Accept-Encoding': acceptEncoding, 'If-None-Match': known ?? '' };
            const again = await raw(pathOf(product), headers, method);
            // A 304 carries what its 200 would carry (RFC 9110 §15.4.5), and no body.
            const unchanged = known?.includes(tag) === true;
            expect([known, acceptEncoding, again.status, again.headers.get('ETag')]).toEqual([
              known,
              acceptEncoding,
              unchanged ? 304 : 200,
              tag,
            ]);
            if (unchanged) expect(again.headers.get('Content-Encoding')).toBeNull();
          }
        }
      }
      const change = {
        method: 'PATCH',
        path: pathOf(product),
        as: 'editor',
        body: { tags: [coding] },
      } as const;
      expect((await call(service, { ...change, headers: { 'If-Match': etag } })).status).toBe(200);
      expect((await call(service, { ...change, headers: { 'If-Match': etag } })).status).toBe(412);
    }
  });

  test('HEAD has the headers of the compressed response', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    const get = await raw(pathOf(large), headers);
    const head = await raw(pathOf(large), headers, 'HEAD');
    for (const name of ['Content-Encoding', 'ETag', 'Content-Length', 'Content-Type'])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    expect(head.bytes.byteLength).toBe(0);
  });

  test('errors are compressed by the same rules', async () => {
    const body = JSON.stringify({ name: '', price: -1, tags: Array(40).fill('') });
    const headers = {
      Authorization: `Bearer ${service.tokens.editor}`,
      'Content-Type': 'application/json',
      'Accept-Encoding': 'gzip',
    };
    const response = await fetch(`${service.url}/v1/products`, { method: 'POST', headers, body });
    expect([response.status, response.headers.get('Content-Encoding')]).toEqual([400, 'gzip']);
    expect(((await response.json()) as { details: unknown[] }).details).toHaveLength(42);
  });
});

test('two bodies that were constructed to have one entity tag are compressed each', async () => {
  const compressor = createCompressor();
  for (const text of ['a', 'b', 'a']) {
    const body = text.repeat(2000);
    const compressed = await compressor.compress(body, 'gzip', '"the same"');
    expect(zlib.gunzipSync(compressed).toString()).toBe(body);
  }
});
