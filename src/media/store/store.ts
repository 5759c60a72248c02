/** Where files are kept, each under the SHA-256 of its content. */

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
   * Keeps a file, whole or not at all; one that is there already stays as it is.
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
export const shelfOf = (hash: string): string => hash.slice(0, 2);
