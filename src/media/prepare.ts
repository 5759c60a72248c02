/**
 * Prepares an upload to be stored. Metadata is removed, except the orientation of a JPEG; other pictures are turned
 * upright. The image is decoded once at a small size, which shows that it can be decoded and gives its colour.
 */
import { getErrorCode } from '../error-text.ts';
import {
  computeWholeLimit,
  ImageError,
  type Inspected,
  type KeptType,
  type Limits,
} from './inspect/image.ts';
import { createUnsupportedImageError, inspectImage, sniff } from './inspect/index.ts';
import type { Limiter } from './limiter.ts';
import { computeMeanColour, decodePixels, requireDecoded } from './pixels.ts';
import { computeHash } from './store/store.ts';

export interface PreparedImage {
  /** The SHA-256 of the bytes in hexadecimal, which is also the name of the file. */
  readonly hash: string;
  readonly bytes: Uint8Array;
  readonly type: KeptType;
  readonly width: number;
  readonly height: number;
  /** `#rrggbb`: a placeholder to show until the picture has loaded. */
  readonly colour: string;
}

/** The quality of pictures that must be compressed again, because they are turned or converted. */
const webpQuality = 90;
/** The side length of the small picture from which the colour is computed. */
const sample = 8;

/** @throws ImageError when the upload is not an image that can be stored */
export async function prepareImage(
  sent: Uint8Array,
  limits: Limits,
  limiter: Limiter,
): Promise<PreparedImage> {
  const readable = sniff(sent) === 'image/avif' ? await convertAvif(sent, limits, limiter) : sent;
  const upright = await turnUpright(await inspectImage(readable, limits), limits, limiter);
  const { type, width, height, first, pieces } = upright;
  const bytes = Buffer.concat(pieces);
  const colour = await limiter.run(width * height, async () => {
    const image = new Bun.Image(first?.file ?? bytes, { maxPixels: limits.pixels });
    return computeMeanColour(await decodePixels(image.resize(sample, sample, { filter: 'box' })));
  });
  return { hash: await computeHash(bytes), bytes, type, width, height, colour };
}

/** Turns a picture upright, as not every program reads the EXIF of a PNG or WebP. Animations stay as they are. */
async function turnUpright(inspected: Inspected, limits: Limits, limiter: Limiter): Promise<Inspected> {
  const { orientation, animated, width, height, type, pieces } = inspected;
  if (orientation === 1 || animated) return inspected;
  const bytes = await limiter.run(width * height * 2, () => {
    const image = turn(new Bun.Image(Buffer.concat(pieces), { maxPixels: limits.pixels }), orientation);
    if (type === 'image/webp') return requireDecoded(image.webp({ quality: webpQuality }).bytes());
    return requireDecoded(image.png().bytes());
  });
  return inspectImage(bytes, limits);
}

/** Applies one of the eight EXIF orientations: turns clockwise first, then mirrors. */
function turn(image: Bun.Image, orientation: number): Bun.Image {
  const degrees = [0, 0, 180, 0, 90, 90, 270, 270][orientation - 1] ?? 0;
  const rotated = degrees === 0 ? image : image.rotate(degrees);
  if (orientation === 4) return rotated.flip();
  return [2, 5, 7].includes(orientation) ? rotated.flop() : rotated;
}

/** Converts AVIF, which only some operating systems decode (Linux does not), to WebP, which is read everywhere. */
async function convertAvif(sent: Uint8Array, limits: Limits, limiter: Limiter): Promise<Uint8Array> {
  try {
    const { width, height } = await new Bun.Image(sent, { maxPixels: computeWholeLimit(limits) }).metadata();
    return await limiter.run(width * height, () =>
      new Bun.Image(sent, { maxPixels: computeWholeLimit(limits) }).webp({ quality: webpQuality }).bytes(),
    );
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'ERR_IMAGE_FORMAT_UNSUPPORTED') throw createUnsupportedImageError(sent);
    if (code === 'ERR_IMAGE_TOO_MANY_PIXELS')
      throw new ImageError('large', `has more than ${computeWholeLimit(limits)} pixels`, { cause: error });
    return requireDecoded(Promise.reject(error));
  }
}
