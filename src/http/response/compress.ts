/** Content codings of answers (RFC 9110 §8.4): Brotli, Zstandard, gzip and deflate. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Coding } from '../negotiate.ts';

/** Below this size in bytes compression saves no packet. */
export const smallestCompressed = 1024;
const rememberedBytes = 16 * 1024 * 1024;

const brotli = promisify(zlib.brotliCompress);
const zstd = promisify(zlib.zstdCompress);
const gzip = promisify(zlib.gzip);
const deflate = promisify(zlib.deflate);

const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

export interface Compressor {
  /**
   * A promise only when it has to be done.
   * @param etag names the body: the same tag gives the same bytes, remembered for clients that poll
   */
  compress(
    body: string | Uint8Array,
    coding: Coding,
    etag: string | undefined,
  ): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
}

export function compressor(): Compressor {
  const remembered = new LRUCache<string, Uint8Array<ArrayBuffer>>({
    maxSize: rememberedBytes,
    sizeCalculation: bytes => bytes.byteLength + 64,
  });
  async function compressAnew(body: string | Uint8Array, coding: Coding, key: string | undefined) {
    const compressed = new Uint8Array(await encode(body, coding));
    if (key !== undefined) remembered.set(key, compressed);
    return compressed;
  }
  return {
    compress(body, coding, etag) {
      const key = etag === undefined ? undefined : `${coding} ${etag}`;
      const known = key === undefined ? undefined : remembered.get(key);
      return known ?? compressAnew(body, coding, key);
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

/** The tag of the compressed form: strong tags differ between codings (RFC 9110 §8.8.3.3). */
export function codedTag(etag: string, coding: Coding): string {
  return `${etag.slice(0, -1)}-${coding}"`;
}
