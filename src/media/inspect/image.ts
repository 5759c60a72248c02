/** What is read from a file that claims to be an image, and why one is refused. */

/** The media types that are kept and served. */
export const keptTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
export type KeptType = (typeof keptTypes)[number];

export interface Inspected {
  readonly type: KeptType;
  readonly width: number;
  readonly height: number;
  /** How the pixels are still to be turned, as EXIF says it: 1 to 8, where 1 is upright. */
  readonly orientation: number;
  readonly animated: boolean;
  /** The file without what is not picture, in pieces: text, places, thumbnails, what follows its end. */
  readonly pieces: readonly Uint8Array[];
  /** Of a GIF or an animation. */
  readonly first?: FirstPicture;
}

/** The first picture, which need not fill the whole: what is around it is transparent. */
export interface FirstPicture {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** As a file of its own, where the decoder needs one. */
  readonly file?: Uint8Array;
}

export interface Limits {
  /** Width times height at most. */
  readonly pixels: number;
}

/** Memory of formats that are decoded whole, four bytes a pixel: all but JPEG, which is decoded at an eighth or half of its size. */
const wholeShare = 0.8;

/** How many pixels are decoded whole at most: so that 50 megapixels of the largest JPEG are 160 MB of any other. */
export const computeWholeLimit = ({ pixels }: Limits): number => Math.max(1, Math.floor(pixels * wholeShare));

/** `unsupported`: none that is read here. `invalid`: one that is broken. `large`: one with too many pixels. */
export type RefusalKind = 'unsupported' | 'invalid' | 'large';

/** A file that is not an image that can be kept. Its message is for the client that sent it. */
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

/** Pictures of an animation at most, and how many times the largest image they may come to together. */
const [mostFrames, mostTimes] = [2000, 10];

/**
 * A program that shows an animation puts each of its pictures over the whole.
 * @param count of its pictures so far; @param whole its size
 * @throws ImageError
 */
export function checkFrames(
  count: number,
  { width, height }: { readonly width: number; readonly height: number },
  limits: Limits,
): void {
  if (count > mostFrames)
    throw createInvalidImageError(`is an animation of more than ${mostFrames} pictures`);
  if (count > 1 && count * width * height > limits.pixels * mostTimes) {
    const message = `is an animation of ${count} pictures or more of ${width} × ${height} pixels`;
    throw new ImageError('large', `${message}; at most ${limits.pixels * mostTimes} pixels are taken`);
  }
}

/** @throws ImageError when a picture that is decoded whole is empty or has more pixels than that takes */
export function checkWhole(width: number, height: number, limits: Limits): void {
  checkSize(width, height, { pixels: computeWholeLimit(limits) });
}

/** @throws ImageError when a picture is empty or has more pixels than the limit */
export function checkSize(width: number, height: number, limits: Limits): void {
  if (width < 1 || height < 1)
    throw createInvalidImageError(`says that it is ${width} × ${height} pixels, which is not a picture`);
  if (width * height > limits.pixels) {
    throw new ImageError(
      'large',
      `is ${width} × ${height} pixels; at most ${limits.pixels} pixels are taken`,
    );
  }
}
