/** Files in a bucket of S3, or of a service that speaks its language; with Bun's own client. */
import { S3Client, type S3ListObjectsResponse } from 'bun';
import { getErrorCode } from '../../error-text.ts';
import type { S3Location } from './location.ts';
import {
  createStoreUnavailableError,
  emptyThough,
  type FileStore,
  getShelf,
  hashPattern,
  type StoredFile,
} from './store.ts';

/** Milliseconds that one request may take. */
const patience = 20_000;
/** For so many milliseconds it is known whether the bucket is there. */
const confirmedMs = 5000;

export function createS3Store({ bucket, prefix, ...options }: S3Location, now: () => number): FileStore {
  const client = new S3Client({ ...options, bucket });
  const toKey = (hash: string): string => `${prefix}${getShelf(hash)}/${hash}`;

  async function ask<T>(request: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`the store has not responded for ${patience / 1000} s`)),
      patience,
    );
    try {
      return await Promise.race([request(), late.promise]);
    } catch (error) {
      throw createStoreUnavailableError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  let confirmedAt = Number.NEGATIVE_INFINITY;
  let confirmed: Promise<unknown> = Promise.resolve();
  /**
   * HEAD is 404 for a file that is not there and for a bucket that is not, and has no body to distinguish them; a server
   * of something else is 404 for all. A list is not.
   * @throws HttpError 503 when the bucket is not there
   */
  async function confirmBucket(key: string): Promise<void> {
    if (Math.abs(now() - confirmedAt) > confirmedMs) {
      confirmedAt = now();
      confirmed = ask(() => client.list({ prefix: key, maxKeys: 1 }));
    }
    await confirmed;
  }

  return {
    place: `s3://${bucket}/${prefix}`,
    pathOf: () => undefined,
    async open(isUsed) {
      const { contents = [] }: S3ListObjectsResponse = await ask(() => client.list({ prefix }));
      if (isUsed && contents.length === 0) throw createStoreUnavailableError(new Error(emptyThough));
    },
    // What is called next, the list, says whether the bucket is there.
    check: async () => undefined,
    async put(hash, bytes, type) {
      await ask(() => client.write(toKey(hash), bytes, { type }));
    },
    async has(hash) {
      const key = toKey(hash);
      const found = await ask(() => client.exists(key));
      if (!found) await confirmBucket(key);
      return found;
    },
    async read(hash) {
      const key = toKey(hash);
      const bytes = await ask(() => client.file(key).bytes().catch(ignoreMissing));
      if (bytes === undefined) await confirmBucket(key);
      return bytes;
    },
    async remove(hash) {
      await ask(() => client.delete(toKey(hash)).catch(ignoreMissing));
    },
    async *list() {
      let continuationToken: string | undefined;
      do {
        const from = continuationToken === undefined ? {} : { continuationToken };
        const page: S3ListObjectsResponse = await ask(() => client.list({ prefix, ...from }));
        for (const { key, size, lastModified } of page.contents ?? []) {
          const file = toStoredFile(key, size, lastModified);
          if (file !== undefined && toKey(file.hash) === key) yield file;
        }
        continuationToken = page.isTruncated === true ? page.nextContinuationToken : undefined;
      } while (continuationToken !== undefined);
    },
    removeUnfinished: async () => 0,
  };
}

function toStoredFile(
  key: string,
  size: number | undefined,
  lastModified: string | undefined,
): StoredFile | undefined {
  const hash = key.slice(key.lastIndexOf('/') + 1);
  if (!hashPattern.test(hash)) return undefined;
  return { hash, size: size ?? 0, writtenAt: Date.parse(lastModified ?? '') || 0 };
}

function ignoreMissing(error: unknown): undefined {
  if (getErrorCode(error) !== 'NoSuchKey') throw error;
}
