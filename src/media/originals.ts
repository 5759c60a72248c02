/**
 * Reads images as they are stored. Each is compared with its name, the SHA-256 of its content: a wrong picture would be
 * cached everywhere for a year. Files that are stored on another machine have a copy in the cache.
 */
import { createBoundedMap } from '../bounded-map.ts';
import type { Log } from '../operations/log.ts';
import { type Clock, isRecent } from '../ports/clock.ts';
import { createOnce } from '../turns/once.ts';
import type { FileCache } from './cache.ts';
import type { KeptType } from './inspect/image.ts';
import { sniff } from './inspect/index.ts';
import { createLimiter } from './limiter.ts';
import { awaitWithin, createStoreUnavailableError, type FileStore, matchesHash } from './store/store.ts';

/** At most this many images have their type and checks cached. */
const knownFiles = 10_000;
/** A file on another machine is assumed to exist for this many milliseconds after it was last seen. */
const seenMs = 10 * 60 * 1000;
const copyName = 'original';
/** A request for a cached image waits at most this many milliseconds for the store. */
const cachedWaitMs = 1000;
/** No requests about cached images are sent for this many milliseconds to a store that failed to respond. */
const awayMs = 5000;
/** At most this many files, which may be large, are read from the store at once. */
const maxReads = 4;
/** An image waits at most this many milliseconds for its turn and its file. */
const maxWaitMs = 20_000;

export function createOriginals(store: FileStore, cache: FileCache, clock: Clock, log: Log) {
  const types = createBoundedMap<string, KeptType>(knownFiles);
  /** The times when files on other machines were last seen. */
  const seen = createBoundedMap<string, number>(knownFiles);
  /** Files whose content matched their name when they were last read. */
  const checked = createBoundedMap<string, true>(knownFiles);
  /** When the store last failed to respond. */
  let awayAt = Number.NEGATIVE_INFINITY;
  const shareRun = createOnce<Uint8Array | undefined>();
  const reads = createLimiter(maxReads, maxReads);

  async function readInTurn(hash: string): Promise<Uint8Array | undefined> {
    let isAwaited = true;
    const readStoredIfAwaited = async () => (isAwaited ? readStored(hash) : undefined);
    try {
      // Only their number is limited, so each counts as one pixel.
      return await awaitWithin(reads.run(1, readStoredIfAwaited), maxWaitMs);
    } finally {
      isAwaited = false;
    }
  }
  const read = (hash: string) =>
    shareRun(hash, async () => (await readCopy(hash)) ?? (await readInTurn(hash)));

  async function readStored(hash: string): Promise<Uint8Array | undefined> {
    const bytes = await store.read(hash);
    if (bytes === undefined) return undefined;
    if (!(await isWhole(hash, bytes))) {
      const reason = `${store.place}: the content from the store does not match the hash ${hash}`;
      throw createStoreUnavailableError(new Error(reason));
    }
    if (store.pathOf(hash) === undefined) await cache.put(hash, copyName, bytes);
    return bytes;
  }
  async function readCopy(hash: string): Promise<Uint8Array | undefined> {
    if (store.pathOf(hash) !== undefined) return undefined;
    const copy = await cache.get(hash, copyName);
    if (copy === undefined || (await isWhole(hash, copy))) return copy;
    log.warn('a damaged cached image was removed', { hash });
    await cache.forget(hash);
    return undefined;
  }
  async function isWhole(hash: string, bytes: Uint8Array): Promise<boolean> {
    const found = await matchesHash(bytes, hash);
    if (found) checked.set(hash, true);
    else forget(hash);
    return found;
  }
  /** Discards all that is cached about an image. */
  function forget(hash: string): void {
    for (const known of [types, seen, checked]) known.delete(hash);
  }

  async function isThere(hash: string): Promise<boolean> {
    const isElsewhere = store.pathOf(hash) === undefined;
    const since = seen.get(hash);
    if (isElsewhere && since !== undefined && isRecent(since, seenMs, clock.now())) return true;
    // Cached images are served while the store cannot be reached.
    const isCached = types.get(hash) !== undefined || (await cache.has(hash, copyName));
    if (isElsewhere && isCached && isRecent(awayAt, awayMs, clock.now())) return true;
    try {
      const found = await (isCached ? awaitWithin(store.has(hash), cachedWaitMs) : store.has(hash));
      if (found && isElsewhere) seen.set(hash, clock.now());
      return found;
    } catch (error) {
      if (!isCached) throw error;
      awayAt = clock.now();
      return true;
    }
  }
  async function readBeginning(hash: string): Promise<Uint8Array | undefined> {
    const path = store.pathOf(hash);
    if (path === undefined) return read(hash);
    // If the beginning cannot be read, the store reports why when it reads the whole file.
    return Bun.file(path)
      .slice(0, 16)
      .bytes()
      .catch(() => read(hash));
  }

  return {
    /** The bytes of an image; undefined if there is none. @throws HttpError 503, also if they do not match the name */
    read,
    forget,
    /** The path of an image on this machine; undefined if it is not here, or has not been checked yet. */
    locate: async (hash: string) =>
      checked.get(hash) === true ? (store.pathOf(hash) ?? cache.locate(hash, copyName)) : undefined,
    /** The media type of an image; undefined if there is no such image. @throws HttpError 503 */
    async typeOf(hash: string): Promise<KeptType | undefined> {
      if (!(await isThere(hash))) return undefined;
      const known = types.get(hash);
      if (known !== undefined) return known;
      const type = sniff((await readBeginning(hash)) ?? new Uint8Array());
      if (type === undefined || type === 'image/avif') {
        // Other types are never stored: the file is damaged, or was removed since. If damaged, read throws.
        await read(hash);
        return undefined;
      }
      types.set(hash, type);
      return type;
    },
  };
}
