/** Where files are kept, each under the SHA-256 of its content. */

import { getErrorCode } from '../../error-text.ts';
import { HttpError } from '../../http/errors.ts';
import { takeTurn } from '../../turns/index.ts';

/** A file that is kept. */
export interface StoredFile {
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Epoch milliseconds of when it was last written. */
  readonly writtenAt: number;
}

export interface FileStore {
  /** For people: where it is. */
  readonly place: string;
  /**
   * Called once when a service starts: sees whether the place can be used, and makes the folder where none has been yet.
   * @param isUsed whether files have been kept before
   * @throws HttpError 503 when it cannot be used, or is empty though it is used
   */
  open(isUsed: boolean): Promise<void>;
  /** @throws HttpError 503 when the place itself is not there, or cannot be used */
  check(): Promise<void>;
  /**
   * Keeps a file, whole or not at all, also in place of one that is damaged.
   * @param bytes what the name says
   * @throws HttpError 507 when there is no room, 503 when the store cannot be reached
   */
  put(hash: string, bytes: Uint8Array, type: string): Promise<void>;
  /** Whether there is such a file. @throws HttpError 503 */
  has(hash: string): Promise<boolean>;
  /** Its bytes; undefined when there is none. @throws HttpError 503 */
  read(hash: string): Promise<Uint8Array | undefined>;
  /** Where it lies on this machine; undefined when it lies elsewhere. */
  pathOf(hash: string): string | undefined;
  /** One that is not there is no error. @throws HttpError 503 */
  remove(hash: string): Promise<void>;
  /** All files, in no order. @throws HttpError 503 */
  list(): AsyncIterable<StoredFile>;
  /** Removes what writes have left that were cut off; gives how many there were. */
  removeUnfinished(): Promise<number>;
}

/** What names of files look like: SHA-256 in hexadecimal. */
export const hashPattern = /^[0-9a-f]{64}$/;

/** Files are spread over folders named by the first two letters. */
export const getShelf = (hash: string): string => hash.slice(0, 2);

/** Bytes that are hashed at once: about a millisecond. */
const hashedAtOnce = 1024 * 1024;

/** Whether a file is what its name says. */
export async function matchesHash(bytes: Uint8Array, hash: string): Promise<boolean> {
  const hasher = new Bun.CryptoHasher('sha256');
  for (let start = 0; start < bytes.length; start += hashedAtOnce) {
    hasher.update(bytes.subarray(start, start + hashedAtOnce));
    await takeTurn();
  }
  return hasher.digest('hex') === hash;
}

/** @param cause what the system or the server says of it */
export function createStoreUnavailableError(cause: unknown): HttpError {
  return new HttpError('MEDIA_UNAVAILABLE', { headers: { 'Retry-After': '5' }, cause });
}

/** Why a store cannot be used, for operators: callers are not to learn where it is. */
export function describeReason(error: unknown): string {
  const reason = error instanceof HttpError ? (error.cause ?? error) : error;
  if (!(reason instanceof Error)) return String(reason);
  const code = getErrorCode(reason) ?? '';
  // The messages of the system begin with it.
  return reason.message.includes(code) ? reason.message : `${reason.message} (${code})`;
}

/** What is wrong with a place that lost all its files, or is not the one that was used before. */
export const emptyThough =
  'the store is empty although images have been stored: it is another one, or a share that is not mounted';
