/**
 * Images as they are kept. Each is compared with its name, which is the SHA-256 of its content: what is another picture
 * would be cached everywhere for a year. Files that are kept elsewhere have a copy in the cache.
 */
import { createBoundedMap } from '../bounded-map.ts';
import type { Log } from '../operations/log.ts';
import type { Clock } from '../ports/clock.ts';
import { createOnce } from '../turns/once.ts';
import type { FileCache } from './cache.ts';
import type { KeptType } from './inspect/image.ts';
import { sniff } from './inspect/index.ts';
import { createStoreUnavailableError, type FileStore, matchesHash } from './store/store.ts';

/** The most images of which something is known. */
const knownFiles = 10_000;
/** For so many milliseconds a file that lies elsewhere and was there is taken to be there still. */
const seenMs = 10 * 60 * 1000;
/** The name of a copy. */
const copyName = 'original';

export function createOriginals(store: FileStore, cache: FileCache, clock: Clock, log: Log) {
  const types = createBoundedMap<string, KeptType>(knownFiles);
  /** When files that lie elsewhere were seen last. */
  const seen = createBoundedMap<string, number>(knownFiles);
  /** Files that were what their names say when they were read last. */
  const checked = createBoundedMap<string, true>(knownFiles);
  const shareRun = createOnce<Uint8Array | undefined>();

  const read = (hash: string) =>
    shareRun(hash, async () => (await readCopy(hash)) ?? (await readStored(hash)));

  async function readStored(hash: string): Promise<Uint8Array | undefined> {
    const bytes = await store.read(hash);
    if (bytes === undefined) return undefined;
    if (!(await isWhole(hash, bytes))) {
      const reason = `${store.place}: the store gave other bytes than the name ${hash} says`;
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
  /** Forgets what is known of it. */
  function forget(hash: string): void {
    for (const known of [types, seen, checked]) known.delete(hash);
  }

  async function isThere(hash: string): Promise<boolean> {
    const isElsewhere = store.pathOf(hash) === undefined;
    if (isElsewhere && (seen.get(hash) ?? 0) > clock.now() - seenMs) return true;
    try {
      const found = await store.has(hash);
      if (found && isElsewhere) seen.set(hash, clock.now());
      return found;
    } catch (error) {
      // What is in the cache is given out while the store is away.
      if (types.get(hash) !== undefined) return true;
      throw error;
    }
  }
  async function readBeginning(hash: string): Promise<Uint8Array | undefined> {
    const path = store.pathOf(hash);
    if (path === undefined) return read(hash);
    // What cannot be read in part cannot be read whole, and the store says why.
    return Bun.file(path)
      .slice(0, 16)
      .bytes()
      .catch(() => read(hash));
  }

  return {
    /** Its bytes; undefined when there is none. @throws HttpError 503, also when they are not what the name says */
    read,
    forget,
    /** Where it lies on this machine; undefined when it does not, or is still to be checked. */
    locate: async (hash: string) =>
      checked.get(hash) === true ? (store.pathOf(hash) ?? cache.locate(hash, copyName)) : undefined,
    /** What an image is; undefined when there is none. @throws HttpError 503 */
    async typeOf(hash: string): Promise<KeptType | undefined> {
      if (!(await isThere(hash))) return undefined;
      const known = types.get(hash);
      if (known !== undefined) return known;
      const type = sniff((await readBeginning(hash)) ?? new Uint8Array());
      if (type === undefined || type === 'image/avif') {
        // Nothing else is kept: it is damaged, or gone since.
        await read(hash);
        return undefined;
      }
      types.set(hash, type);
      return type;
    },
  };
}
