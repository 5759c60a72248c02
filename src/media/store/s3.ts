/** Stores files in a bucket of S3, or of a compatible service, with Bun's client. */
import { S3Client, type S3ListObjectsResponse } from 'bun';
import { getErrorCode } from '../../error-text.ts';
import { HttpError } from '../../http/errors.ts';
import type { S3Location } from './location.ts';
import {
  awaitWithin,
  createStoreUnavailableError,
  emptyThough,
  type FileStore,
  getShelf,
  hashPattern,
  type StoredFile,
} from './store.ts';

/** The time limit for one request, in milliseconds. */
const patience = 20_000;
/** The result of checking whether the bucket exists is valid for this many milliseconds. */
const confirmedMs = 5000;

export function createS3Store({ bucket, prefix, ...options }: S3Location, now: () => number): FileStore {
  const client = new S3Client({ ...options, bucket });
  const toKey = (hash: string): string => `${prefix}${getShelf(hash)}/${hash}`;

  async function ask<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await awaitWithin(request(), patience);
    } catch (error) {
      throw error instanceof HttpError ? error : createStoreUnavailableError(toCause(error));
    }
  }

  /** A response to HEAD has no body that says why it was refused; one to GET has. @returns whether there is a file */
  async function findByGet(key: string, error: unknown): Promise<boolean> {
    if (getErrorCode(error) !== 'UnknownError') throw error;
    return (await client.file(key).slice(0, 1).bytes().catch(ignoreMissing)) !== undefined;
  }

  let confirmedAt = Number.NEGATIVE_INFINITY;
  let confirmed: Promise<unknown> = Promise.resolve();
  /**
   * HEAD has status 404 for both a missing file and a missing bucket, without a body to distinguish them, and a server
   * that is not S3 has 404 for everything. A list request distinguishes these cases.
   * @throws HttpError 503 when the bucket does not exist
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
    // The list request that follows shows whether the bucket exists.
    check: async () => undefined,
    async put(hash, bytes, type) {
      const key = toKey(hash);
      // A server that is not S3 may respond 200 to anything.
      await confirmBucket(key);
      await ask(() => client.write(key, bytes, { type }));
    },
    async has(hash) {
      const key = toKey(hash);
      const found = await ask(() => client.exists(key).catch(error => findByGet(key, error)));
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

/** Names what to set: the message of the client lists its own options, among them those that are there. */
function toCause(error: unknown): unknown {
  if (getErrorCode(error) !== 'ERR_S3_MISSING_CREDENTIALS') return error;
  const message =
    'no key is set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name the key in MEDIA_URL';
  return new Error(message, { cause: error });
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
