/** Content codings of responses (RFC 9110 §8.4): Brotli, Zstandard, gzip and deflate. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { createOnce } from '../../turns/once.ts';
import type { Coding } from '../negotiate.ts';

/** Below this size in bytes compression saves no packet. */
export const minCompressedSize = 1024;
const cachedBytes = 16 * 1024 * 1024;

const brotli = promisify(zlib.brotliCompress);
const zstd = promisify(zlib.zstdCompress);
const gzip = promisify(zlib.gzip);
const deflate = promisify(zlib.deflate);

const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

export type Compressor = ReturnType<typeof createCompressor>;

export function createCompressor() {
  const cached = new LRUCache<string, Uint8Array<ArrayBuffer>>({
    maxSize: cachedBytes,
    sizeCalculation: bytes => bytes.byteLength + 64,
  });
  const shareRun = createOnce<Uint8Array<ArrayBuffer>>();
  // Unknown to clients; Bun uses 32 bits.
  const seed = BigInt(crypto.getRandomValues(new Uint32Array(1))[0] ?? 0);
  const compressUncached = async (body: string | Uint8Array, coding: Coding) =>
    new Uint8Array(await encode(body, coding));
  async function compressAndKeep(body: string | Uint8Array, coding: Coding, key: string) {
    const compressed = await compressUncached(body, coding);
    cached.set(key, compressed);
    return compressed;
  }
  return {
    /**
     * Compresses a body. Returns a promise unless the result is cached.
     * @param etag identifies the body, unless its author has constructed it to have the tag of another: with the keyed
     * hash, equal names mean equal bytes, which are cached for clients that poll
     */
    compress(body: string | Uint8Array, coding: Coding, etag: string | undefined) {
      if (etag === undefined) return compressUncached(body, coding);
      const key = `${coding} ${etag} ${Bun.hash.xxHash3(body, seed)}`;
      return cached.get(key) ?? shareRun(key, () => compressAndKeep(body, coding, key));
    },
  };
}

function encode(body: string | Uint8Array, coding: Coding) {
  switch (coding) {
    case 'br':
      return brotli(body, brotliOptions);
    case 'zstd':
      return zstd(body);
    case 'gzip':
      return gzip(body, { level: 5 });
    case 'deflate':
      return deflate(body, { level: 5 });
  }
}

/** The entity tag of the compressed form: strong tags differ between codings (RFC 9110 §8.8.3.3). */
export function toCodedTag(etag: string, coding: Coding): string {
  return `${etag.slice(0, -1)}-${coding}"`;
}
