/**
 * Images: kept once by the hash of their content, in a folder or in S3, and given out in the sizes and formats that are
 * requested, which are made when they are first wanted and kept as long as there is room.
 */
import { join } from 'node:path';
import { createBoundedMap } from '../bounded-map.ts';
import type { Config } from '../config.ts';
import { describeError, type Log } from '../operations/log.ts';
import type { Clock } from '../ports/clock.ts';
import { createFileCache } from './cache.ts';
import { computeWholeLimit, ImageError, type KeptType, type Limits } from './inspect/image.ts';
import { sniff } from './inspect/index.ts';
import { createLimiter } from './limiter.ts';
import { countNothing, type MediaNumbers } from './numbers.ts';
import { type PreparedImage, prepareImage } from './prepare.ts';
import { createFolderStore } from './store/folder.ts';
import { createS3Store } from './store/s3.ts';
import { describeReason, type FileStore } from './store/store.ts';
import { makeVariant, toVariantName, type VariantRequest } from './variants.ts';

/** A file to be given out. */
export interface MediaFile {
  readonly content: Uint8Array<ArrayBuffer> | Blob;
  readonly size: number;
}

export interface Media {
  readonly store: FileStore;
  /**
   * Called when a service starts: a line in the log says what is wrong with the place of the images. Never rejects.
   * @param isUsed whether images have been kept before
   */
  open(isUsed: boolean): Promise<void>;
  /**
   * Makes of what was sent what is to be kept; nothing is kept yet.
   * @throws ImageError when it is no image that can be; HttpError 503 when too much is to be done
   */
  prepare(sent: Uint8Array): Promise<PreparedImage>;
  /** Keeps an image. @throws HttpError 503, 507 */
  keep(image: PreparedImage): Promise<void>;
  /** What this process has done. */
  numbers(): MediaNumbers;
  /** Removes an image and all that was made of it here. */
  remove(hash: string): Promise<void>;
  /** What an image is; undefined when there is none. */
  typeOf(hash: string): Promise<KeptType | undefined>;
  /** The image as it is kept; undefined when there is none. */
  original(hash: string): Promise<MediaFile | undefined>;
  /** Whether a variant is there and need not be made. */
  hasVariant(hash: string, request: VariantRequest): Promise<boolean>;
  /** A variant, made when it is not there: once for all requests that come meanwhile; undefined when there is no image. */
  variant(hash: string, request: VariantRequest): Promise<MediaFile | undefined>;
}

const cachedTypes = 10_000;
/** For so many milliseconds a file that lies elsewhere and was there is taken to be there still. */
const seenMs = 10 * 60 * 1000;
const seenFiles = 10_000;
/** Bytes from which on a file is not held in memory to be sent. */
const largeFile = 1024 * 1024;
/** The name, in the cache, of an image that lies elsewhere. */
const originalName = 'original';

export function createMedia(config: Config, clock: Clock, log: Log): Media {
  const limits: Limits = { pixels: config.MEDIA_PIXEL_LIMIT };
  const limiter = createLimiter(computeWholeLimit(limits));
  const store = openStore(config, clock);
  const cache = createFileCache(join(config.DATA_DIR, 'media-cache'), config.MEDIA_CACHE_LIMIT);
  const counts = countNothing();
  const types = createBoundedMap<string, KeptType>(cachedTypes);
  /** When files that lie elsewhere were seen last, by hash. */
  const seen = createBoundedMap<string, number>(seenFiles);
  /** What is being made or read from elsewhere, by hash and name. */
  const making = new Map<string, Promise<Uint8Array | undefined>>();

  async function read(hash: string): Promise<Uint8Array | undefined> {
    if (store.pathOf(hash) !== undefined) return store.read(hash);
    const cached = await cache.get(hash, originalName);
    if (cached !== undefined) return cached;
    return runOnce(`${hash}-${originalName}`, async () => {
      const bytes = await store.read(hash);
      if (bytes !== undefined) await keepCopy(hash, originalName, bytes);
      return bytes;
    });
  }

  /** What there is no room for is given out all the same. */
  async function keepCopy(hash: string, name: string, bytes: Uint8Array): Promise<void> {
    try {
      await cache.put(hash, name, bytes);
    } catch (error) {
      log.warn('a copy of an image could not be kept', describeError(error));
    }
  }
  async function forgetCopies(hash: string): Promise<void> {
    try {
      await cache.forget(hash);
    } catch (error) {
      log.warn('copies of an image could not be removed', describeError(error));
    }
  }

  async function make(hash: string, request: VariantRequest): Promise<Uint8Array | undefined> {
    const bytes = await read(hash);
    if (bytes === undefined) return undefined;
    const made = await makeVariant(bytes, request, limits, limiter);
    counts.made += 1;
    counts.madeBytes += made.length;
    await keepCopy(hash, toVariantName(request), made);
    return made;
  }

  /** Requests for the same that come while it is made or read wait for it. */
  function runOnce(
    key: string,
    work: () => Promise<Uint8Array | undefined>,
  ): Promise<Uint8Array | undefined> {
    const running = making.get(key);
    if (running !== undefined) return running;
    const made = work().finally(() => making.delete(key));
    making.set(key, made);
    return made;
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
      .catch(() => store.read(hash));
  }

  return {
    store,
    async open(isUsed) {
      try {
        await store.open(isUsed);
      } catch (error) {
        const fields = { place: store.place, reason: describeReason(error) };
        log.warn('the place of the images cannot be used, or has lost them', fields);
      }
    },
    numbers: () => ({ ...counts, cacheBytes: cache.size() }),
    async prepare(sent) {
      try {
        return await prepareImage(sent, limits, limiter);
      } catch (error) {
        if (error instanceof ImageError) counts.refused += 1;
        throw error;
      }
    },
    async keep({ hash, bytes, type }) {
      await store.put(hash, bytes, type);
      counts.kept += 1;
      counts.keptBytes += bytes.length;
    },
    async remove(hash) {
      seen.delete(hash);
      types.delete(hash);
      await store.remove(hash);
      await forgetCopies(hash);
    },
    async typeOf(hash) {
      if (!(await isThere(hash))) return undefined;
      const known = types.get(hash);
      if (known !== undefined) return known;
      const type = sniff((await readBeginning(hash)) ?? new Uint8Array());
      if (type === undefined || type === 'image/avif') return undefined;
      types.set(hash, type);
      return type;
    },
    async original(hash) {
      const path = store.pathOf(hash) ?? (await cache.locate(hash, originalName));
      if (path !== undefined) {
        const file = Bun.file(path);
        if (file.size >= largeFile) return { content: file, size: file.size };
      }
      return toMediaFile(await read(hash));
    },
    hasVariant: (hash, request) => cache.has(hash, toVariantName(request)),
    async variant(hash, request) {
      const name = toVariantName(request);
      const kept = await cache.get(hash, name);
      if (kept !== undefined) counts.hits += 1;
      return toMediaFile(kept ?? (await runOnce(`${hash}-${name}`, () => make(hash, request))));
    },
  };
}

function openStore({ MEDIA_URL, DATA_DIR }: Config, clock: Clock): FileStore {
  if (MEDIA_URL === undefined) return createFolderStore(join(DATA_DIR, 'media'), true, clock.now);
  return MEDIA_URL.kind === 's3'
    ? createS3Store(MEDIA_URL)
    : createFolderStore(MEDIA_URL.path, false, clock.now);
}

function toMediaFile(bytes: Uint8Array | undefined): MediaFile | undefined {
  // Boundary: what is read from files and made by Bun.Image lies in memory of its own.
  return bytes === undefined ? undefined : { content: bytes as Uint8Array<ArrayBuffer>, size: bytes.length };
}
