/** The interface of a file store, which keeps each file under the SHA-256 of its content. */

import { getErrorCode } from '../../error-text.ts';
import { HttpError } from '../../http/errors.ts';
import { takeTurn } from '../../turns/index.ts';

export interface StoredFile {
  readonly hash: string;
  /** In bytes. */
  readonly size: number;
  /** The time of the last write, in epoch milliseconds. */
  readonly writtenAt: number;
}

export interface FileStore {
  /** The location of the store, for people. */
  readonly place: string;
  /**
   * Must be called once when a service starts: checks that the store can be used, and may create its folder.
   * @param isUsed whether files have been stored before
   * @throws HttpError 503 when the store cannot be used, or is empty although files have been stored
   */
  open(isUsed: boolean): Promise<void>;
  /** @throws HttpError 503 when the store itself is missing, or cannot be used */
  check(): Promise<void>;
  /**
   * Stores a file, whole or not at all; replaces a damaged one.
   * @param bytes the content, whose SHA-256 is `hash`
   * @throws HttpError 507 when there is no room, 503 when the store cannot be reached
   */
  put(hash: string, bytes: Uint8Array, type: string): Promise<void>;
  /** Whether there is such a file. @throws HttpError 503 */
  has(hash: string): Promise<boolean>;
  /** The bytes of a file; undefined if there is none. @throws HttpError 503 */
  read(hash: string): Promise<Uint8Array | undefined>;
  /** The path of a file on this machine; undefined if the store is elsewhere. */
  pathOf(hash: string): string | undefined;
  /** Removes a file, if it exists. @throws HttpError 503 */
  remove(hash: string): Promise<void>;
  /** All files, in no particular order. @throws HttpError 503 */
  list(): AsyncIterable<StoredFile>;
  /** Removes the files that interrupted writes have left; returns how many there were. */
  removeUnfinished(): Promise<number>;
}

/** The form of file names: SHA-256 in hexadecimal. */
export const hashPattern = /^[0-9a-f]{64}$/;

/** Files are spread over folders that are named after the first two digits. */
export const getShelf = (hash: string): string => hash.slice(0, 2);

/** The number of bytes that are hashed at once, in about a millisecond. */
const hashedAtOnce = 1024 * 1024;

/** The SHA-256 of a file in hexadecimal, which is its name. */
export async function computeHash(bytes: Uint8Array): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for (let start = 0; start < bytes.length; start += hashedAtOnce) {
    hasher.update(bytes.subarray(start, start + hashedAtOnce));
    await takeTurn();
  }
  return hasher.digest('hex');
}

/** Whether the content of a file matches its name. */
export const matchesHash = async (bytes: Uint8Array, hash: string): Promise<boolean> =>
  (await computeHash(bytes)) === hash;

/** The result of a request to a store. @throws HttpError 503 when it takes longer than this many milliseconds */
export async function awaitWithin<T>(request: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const error = new Error(`the store has not responded for ${ms / 1000} s`);
  const timer = setTimeout(() => late.reject(createStoreUnavailableError(error)), ms);
  try {
    return await Promise.race([request, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** @param cause the error of the system or the server */
export function createStoreUnavailableError(cause: unknown): HttpError {
  return new HttpError('MEDIA_UNAVAILABLE', { headers: { 'Retry-After': '5' }, cause });
}

/** Why a store cannot be used. For operators only: callers must not learn where the store is. */
export function describeReason(error: unknown): string {
  const reason = error instanceof HttpError ? (error.cause ?? error) : error;
  if (!(reason instanceof Error)) return String(reason);
  const code = getErrorCode(reason) ?? '';
  // Messages of the system already begin with the code.
  return reason.message.includes(code) ? reason.message : `${reason.message} (${code})`;
}

/** The problem of a store that has lost all its files, or is not the one that was used before. */
export const emptyThough =
  'the store is empty although images were stored: it is another store, or a share that is not mounted';
