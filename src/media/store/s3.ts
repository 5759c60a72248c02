/** Files in a bucket of S3, or of a service that speaks its language; with Bun's own client. */
import { S3Client, type S3ListObjectsResponse } from 'bun';
import type { S3Place } from './place.ts';
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

export function createS3Store({ bucket, prefix, ...options }: S3Place): FileStore {
  const client = new S3Client({ ...options, bucket });
  const toKey = (hash: string): string => `${prefix}${getShelf(hash)}/${hash}`;

  async function ask<T>(request: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no response in ${patience} ms`)), patience);
    try {
      return await Promise.race([request(), late.promise]);
    } catch (error) {
      if (isMissing(error)) throw error;
      throw createStoreUnavailableError(error);
    } finally {
      clearTimeout(timer);
    }
  }
  return {
    place: `s3://${bucket}/${prefix}`,
    pathOf: () => undefined,
    async open(isUsed) {
      const { contents = [] }: S3ListObjectsResponse = await ask(() => client.list({ prefix }));
      if (isUsed && contents.length === 0) throw createStoreUnavailableError(new Error(emptyThough));
    },
    // Every request says whether the bucket is there, that for the list too.
    check: async () => undefined,
    async put(hash, bytes, type) {
      await ask(() => client.write(toKey(hash), bytes, { type }));
    },
    has: hash => ask(() => client.exists(toKey(hash))),
    async read(hash) {
      try {
        return await ask(() => client.file(toKey(hash)).bytes());
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async remove(hash) {
      await ask(() => client.delete(toKey(hash)));
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NoSuchKey';
}
