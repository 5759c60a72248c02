/**
 * Stores images once by the hash of their content, in a folder or in S3, and serves them in the requested sizes and
 * formats. These variants are made when they are first requested, and kept as long as there is room.
 */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Log } from '../operations/log.ts';
import type { Clock } from '../ports/clock.ts';
import { createOnce } from '../turns/once.ts';
import { createFileCache } from './cache.ts';
import { computeWholeLimit, ImageError, type Limits } from './inspect/image.ts';
import { createLimiter } from './limiter.ts';
import { createOriginals } from './originals.ts';
import { type PreparedImage, prepareImage } from './prepare.ts';
import { createFolderStore } from './store/folder.ts';
import { createS3Store } from './store/s3.ts';
import { describeReason, type FileStore } from './store/store.ts';
import { makeVariant, toVariantName, type VariantRequest } from './variants.ts';

export interface MediaFile {
  readonly content: Uint8Array<ArrayBuffer> | Blob;
  readonly size: number;
}

/** Numbers of images processed since the start, for the metrics. */
export interface MediaNumbers {
  /** Uploads that were stored, and uploads that were refused. */
  readonly kept: number;
  readonly refused: number;
  /** Bytes of the stored uploads. */
  readonly keptBytes: number;
  /** Requests for variants that were cached already, and variants that were made. */
  readonly hits: number;
  readonly made: number;
  readonly madeBytes: number;
  /** Bytes of files in the cache that the process knows of. */
  readonly cacheBytes: number;
}

export type Media = ReturnType<typeof createMedia>;

/** A file of this many bytes or more is not read into memory to be sent. */
const largeFile = 1024 * 1024;
/** At most this many files, which may be large, are in memory at once to be checked or resized. */
const maxHeld = 4;

export function createMedia(config: Config, clock: Clock, log: Log) {
  const limits: Limits = { pixels: config.MEDIA_PIXEL_LIMIT };
  const limiter = createLimiter(computeWholeLimit(limits));
  const held = createLimiter(maxHeld, maxHeld);
  const store = openStore(config, clock);
  const cache = createFileCache(join(config.DATA_DIR, 'media-cache'), config.MEDIA_CACHE_LIMIT, log);
  const counts = { kept: 0, refused: 0, keptBytes: 0, hits: 0, made: 0, madeBytes: 0 };
  const originals = createOriginals(store, cache, clock, log);
  const shareRun = createOnce<Uint8Array | undefined>();

  async function make(hash: string, request: VariantRequest): Promise<Uint8Array | undefined> {
    const bytes = await originals.read(hash);
    if (bytes === undefined) return undefined;
    const made = await makeVariant(bytes, request, limits, limiter);
    counts.made += 1;
    counts.madeBytes += made.length;
    await cache.put(hash, toVariantName(request), made);
    return made;
  }

  /** A large file on this machine whose content has been compared with its name; undefined if there is none. */
  async function locateLarge(hash: string): Promise<MediaFile | undefined> {
    const path = await originals.locate(hash);
    const file = path === undefined ? undefined : Bun.file(path);
    return file !== undefined && file.size >= largeFile ? { content: file, size: file.size } : undefined;
  }

  return {
    store,
    /**
     * Must be called when a service starts: logs problems of the image store. Never rejects.
     * @param isUsed whether images have been stored before
     */
    async open(isUsed: boolean): Promise<void> {
      try {
        await store.open(isUsed);
      } catch (error) {
        const name = config.MEDIA_URL === undefined ? 'DATA_DIR/media' : 'MEDIA_URL';
        const fields = { place: store.place, reason: describeReason(error) };
        log.warn(`the image store (${name}) cannot be used, or has lost its images`, fields);
      }
    },
    numbers: (): MediaNumbers => ({ ...counts, cacheBytes: cache.size() }),
    /**
     * Converts an upload to the image to store, without storing it.
     * @throws ImageError when the upload is not an image that can be stored; HttpError 503 under overload
     */
    async prepare(sent: Uint8Array): Promise<PreparedImage> {
      try {
        return await prepareImage(sent, limits, limiter);
      } catch (error) {
        if (error instanceof ImageError) counts.refused += 1;
        throw error;
      }
    },
    /** Stores an image. @throws HttpError 503, 507 */
    async keep({ hash, bytes, type }: PreparedImage): Promise<void> {
      await store.put(hash, bytes, type);
      counts.kept += 1;
      counts.keptBytes += bytes.length;
    },
    /** Removes an image and its cached variants. */
    async remove(hash: string): Promise<void> {
      originals.forget(hash);
      await store.remove(hash);
      await cache.forget(hash);
    },
    /** The media type of an image; undefined if there is no such image. */
    typeOf: originals.typeOf,
    /** The image as it is stored; undefined if there is none. */
    async original(hash: string): Promise<MediaFile | undefined> {
      const known = await locateLarge(hash);
      if (known !== undefined) return known;
      const bytes = await held.run(1, () => originals.read(hash));
      // A large file that has just been checked need not stay in memory while it is sent.
      return (await locateLarge(hash)) ?? toMediaFile(bytes);
    },
    /** Whether a variant is cached, so it need not be made. */
    hasVariant: (hash: string, request: VariantRequest) => cache.has(hash, toVariantName(request)),
    /** A variant; if it is not cached, it is made once for all concurrent requests. Undefined if there is no image. */
    async variant(hash: string, request: VariantRequest): Promise<MediaFile | undefined> {
      const name = toVariantName(request);
      const kept = await cache.get(hash, name);
      if (kept !== undefined) counts.hits += 1;
      return toMediaFile(
        kept ?? (await shareRun(`${hash}-${name}`, () => held.run(1, () => make(hash, request)))),
      );
    },
  };
}

function openStore({ MEDIA_URL, DATA_DIR }: Config, clock: Clock): FileStore {
  if (MEDIA_URL === undefined) return createFolderStore(join(DATA_DIR, 'media'), true, clock.now);
  return MEDIA_URL.kind === 's3'
    ? createS3Store(MEDIA_URL, clock.now)
    : createFolderStore(MEDIA_URL.path, false, clock.now);
}

function toMediaFile(bytes: Uint8Array | undefined): MediaFile | undefined {
  // Boundary: bytes read from files or made by Bun.Image are never in shared memory.
  return bytes === undefined ? undefined : { content: bytes as Uint8Array<ArrayBuffer>, size: bytes.length };
}
