/** The result of inspecting an image, the limits for images, and the error for one that is refused. */

/** The media types that are stored and served. */
export const keptTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
export type KeptType = (typeof keptTypes)[number];

export interface Inspected {
  readonly type: KeptType;
  readonly width: number;
  readonly height: number;
  /** The EXIF orientation that must still be applied to the pixels: 1 to 8, where 1 is upright. */
  readonly orientation: number;
  readonly animated: boolean;
  /** The pieces of the file that make up the picture, without text, locations, thumbnails or data after its end. */
  readonly pieces: readonly Uint8Array[];
  /** Only for a GIF or an animation. */
  readonly first?: FirstPicture;
}

/** The first picture, which need not fill the canvas: the area around it is transparent. */
export interface FirstPicture {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The picture as a separate file, if the decoder needs one. */
  readonly file?: Uint8Array;
}

/** A part of a PNG or WebP. */
export interface Chunk {
  readonly type: string;
  readonly content: Uint8Array;
  /** With its length and type, and its checksum or padding byte. */
  readonly whole: Uint8Array;
}

export interface Limits {
  /** The maximum of width times height. */
  readonly pixels: number;
}

/** The share of the limit for formats decoded at full size: all except JPEG, decoded at an eighth or half of it. */
const wholeShare = 0.8;

/** The most pixels that are decoded at full size: with a limit of 50 megapixels, 40, in 160 MB. */
export const computeWholeLimit = ({ pixels }: Limits): number => Math.max(1, Math.floor(pixels * wholeShare));

/** `unsupported`: not an image of a supported kind. `invalid`: a broken image. `large`: too many pixels. */
export type RefusalKind = 'unsupported' | 'invalid' | 'large';

/** A file that cannot be stored as an image. The message is for the client that sent it. */
export class ImageError extends Error {
  constructor(
    readonly kind: RefusalKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ImageError';
  }
}

export const createInvalidImageError = (message: string): ImageError => new ImageError('invalid', message);
export const createTruncatedImageError = (format: string): ImageError =>
  createInvalidImageError(`is a ${format} that ends before its end: the file is truncated`);

/** The most pictures in an animation, and the limit for their pixels together, as a multiple of the largest image. */
const [maxFrames, maxTimes] = [2000, 10];

/**
 * Checks the size of an animation. Each picture counts as the whole canvas, since programs that show it draw each over
 * the whole.
 * @param count the number of pictures so far
 * @throws ImageError
 */
export function checkFrames(
  count: number,
  { width, height }: { readonly width: number; readonly height: number },
  limits: Limits,
): void {
  if (count > maxFrames) throw createInvalidImageError(`is an animation of more than ${maxFrames} frames`);
  if (count > 1 && count * width * height > limits.pixels * maxTimes) {
    const message = `is an animation of at least ${count} frames of ${width} × ${height} pixels`;
    throw new ImageError('large', `${message}; at most ${limits.pixels * maxTimes} pixels are accepted`);
  }
}

/** @throws ImageError when a picture that is decoded at full size is empty or has too many pixels for that */
export function checkWhole(width: number, height: number, limits: Limits): void {
  checkSize(width, height, { pixels: computeWholeLimit(limits) });
}

/** @throws ImageError when a picture is empty or has more pixels than the limit */
export function checkSize(width: number, height: number, limits: Limits): void {
  if (width < 1 || height < 1)
    throw createInvalidImageError(`claims a size of ${width} × ${height} pixels, which is empty`);
  if (width * height > limits.pixels) {
    throw new ImageError(
      'large',
      `is ${width} × ${height} pixels; at most ${limits.pixels} pixels are accepted`,
    );
  }
}
