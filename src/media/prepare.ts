/**
 * From what was sent to what is kept: inspected, without metadata but the orientation of a JPEG (others are turned), and
 * decoded once, small, which shows that it can be and what colour it has.
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

export interface PreparedImage {
  /** The SHA-256 of the bytes in hexadecimal: their name. */
  readonly hash: string;
  readonly bytes: Uint8Array;
  readonly type: KeptType;
  readonly width: number;
  readonly height: number;
  /** `#rrggbb`: to be shown until the picture is there. */
  readonly colour: string;
}

/** Of pictures that have to be compressed once more, since they are turned or of another format. */
const webpQuality = 90;
/** Side of the small picture that the colour is taken from. */
const sample = 8;

/** @throws ImageError when it is not an image that can be kept */
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
  return { hash: hashBytes(bytes), bytes, type, width, height, colour };
}

export function hashBytes(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
}

/** The picture upright: not every program reads the EXIF of a PNG or WebP. An animation stays as it is. */
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

/** The eight orientations of EXIF: turned clockwise first, then mirrored. */
function turn(image: Bun.Image, orientation: number): Bun.Image {
  const degrees = [0, 0, 180, 0, 90, 90, 270, 270][orientation - 1] ?? 0;
  const rotated = degrees === 0 ? image : image.rotate(degrees);
  if (orientation === 4) return rotated.flip();
  return [2, 5, 7].includes(orientation) ? rotated.flop() : rotated;
}

/** AVIF is read by what the operating system has, which is nothing on Linux; WebP is read everywhere. */
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
