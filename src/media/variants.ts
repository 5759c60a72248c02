/** Variants of an image, in smaller sizes and other formats: the possible ones, and how they are made. */
import { checkSize, type FirstPicture, type KeptType, type Limits } from './inspect/image.ts';
import { inspectImage, type Sniffed, sniff } from './inspect/index.ts';
import type { Limiter } from './limiter.ts';
import {
  cutOut,
  decodePixels,
  encodePng,
  onWhite,
  type Pixels,
  placeWithin,
  requireDecoded,
} from './pixels.ts';

/** The widths and heights that can be requested: few enough that variants are likely to be requested again. */
export const sizes = [
  64, 100, 128, 150, 200, 256, 300, 320, 400, 480, 500, 512, 600, 640, 800, 960, 1000, 1024, 1200, 1280, 1600,
  1920, 2000, 2560,
] as const;
export type Size = (typeof sizes)[number];

export const fits = ['contain', 'cover', 'fill'] as const;
type Fit = (typeof fits)[number];

export const formats = ['jpeg', 'png', 'webp'] as const;
export type Format = (typeof formats)[number];

export interface VariantRequest {
  readonly w: Size | undefined;
  readonly h: Size | undefined;
  readonly fit: Fit;
  readonly format: Format;
}

/** Must change when the same request should give a different picture, so that cached variants are made again. */
const edition = 2;
const jpegQuality = 82;
const webpQuality = 80;
/** The largest size of a variant if none is requested: the largest that can be requested. */
const maxSide = sizes[sizes.length - 1] ?? 0;

/** The name of a variant, unique among those of its image. */
export function toVariantName({ w, h, fit, format }: VariantRequest): string {
  const both = w !== undefined && h !== undefined;
  return `${w ?? ''}x${h ?? ''}${both ? `-${fit}` : ''}-${edition}.${format}`;
}

/** The format of a variant if none is requested: that of the image, or WebP if that cannot be written. */
export function getUsualFormat(type: KeptType): Format {
  return type === 'image/jpeg' ? 'jpeg' : type === 'image/png' ? 'png' : 'webp';
}

interface Geometry {
  /** The size to which the whole picture is resized. */
  readonly width: number;
  readonly height: number;
  /** The size to which it is then cropped around its middle. */
  readonly cut: { readonly width: number; readonly height: number } | undefined;
}

/** Computes the size of a variant. Never enlarges, but `fill` may stretch one side. @param width of the image */
function computeGeometry(width: number, height: number, { w, h, fit }: VariantRequest): Geometry {
  const roundToPixels = (value: number) => Math.max(1, Math.round(value));
  if (w !== undefined && h !== undefined && fit === 'fill') {
    const scale = Math.min(1, Math.max(width / w, height / h));
    return { width: roundToPixels(w * scale), height: roundToPixels(h * scale), cut: undefined };
  }
  if (w !== undefined && h !== undefined && fit === 'cover') {
    const scale = Math.max(w / width, h / height);
    const shrink = Math.min(1, 1 / scale);
    const cut = { width: roundToPixels(w * shrink), height: roundToPixels(h * shrink) };
    const factor = Math.min(1, scale);
    const whole = {
      width: Math.max(cut.width, roundToPixels(width * factor)),
      height: Math.max(cut.height, roundToPixels(height * factor)),
    };
    const isWhole = whole.width === cut.width && whole.height === cut.height;
    return { ...whole, cut: isWhole ? undefined : cut };
  }
  const scale = Math.min(1, (w ?? maxSide) / width, (h ?? maxSide) / height);
  return { width: roundToPixels(width * scale), height: roundToPixels(height * scale), cut: undefined };
}

/**
 * @param bytes a stored image, which could be decoded when it was stored
 * @throws ImageError when it can no longer be decoded
 */
export async function makeVariant(
  bytes: Uint8Array,
  request: VariantRequest,
  limits: Limits,
  limiter: Limiter,
): Promise<Uint8Array> {
  const { type, width, height, first } = await measure(bytes, limits);
  const { cut, ...whole } = computeGeometry(width, height, request);
  const part = first && computePart(first, { width, height }, whole);
  return limiter.run(width * height, async () => {
    const source = new Bun.Image(first?.file ?? bytes, { maxPixels: limits.pixels });
    const resized = await makeResized(source, first ?? { width, height }, part ?? whole);
    const isOpaque = type === 'image/jpeg' || request.format !== 'jpeg';
    if (cut === undefined && part === undefined && isOpaque) return encode(resized, request.format);
    const decoded = await decodePixels(resized);
    const pixels = part === undefined ? decoded : await placeWithin(decoded, whole, part);
    const shown = cut === undefined ? pixels : await cutOut(pixels, cut.width, cut.height);
    const final: Pixels = isOpaque ? shown : await onWhite(shown);
    return encode(new Bun.Image(await encodePng(final)), request.format);
  });
}

/** If a picture gets wider but less high, reduces its height first: otherwise all wider rows would be in memory. */
async function makeResized(source: Bun.Image, from: Area, to: Area): Promise<Bun.Image> {
  if (to.width <= from.width || to.height >= from.height) return source.resize(to.width, to.height);
  const lower = source.resize(from.width, to.height).png({ compressionLevel: 0 });
  return new Bun.Image(await requireDecoded(lower.bytes())).resize(to.width, to.height);
}

interface Area {
  readonly width: number;
  readonly height: number;
}

/** The place of the first picture in the resized canvas; undefined if it fills the canvas. */
function computePart(first: FirstPicture, { width, height }: Area, whole: Area): FirstPicture | undefined {
  if (first.width === width && first.height === height) return undefined;
  const computeStretch = (start: number, length: number, factor: number, end: number) => {
    const from = Math.min(end - 1, Math.round(start * factor));
    return [from, Math.max(1, Math.round((start + length) * factor) - from)] as const;
  };
  const [left, across] = computeStretch(first.left, first.width, whole.width / width, whole.width);
  const [top, down] = computeStretch(first.top, first.height, whole.height / height, whole.height);
  return { left, top, width: across, height: down };
}

interface Known extends Area {
  readonly type: Sniffed;
  readonly first?: FirstPicture;
}

/** Stored images have been inspected already; only the first picture of a GIF or an animated WebP must be found. */
async function measure(bytes: Uint8Array, limits: Limits): Promise<Known> {
  const type = sniff(bytes);
  if (type === 'image/webp' || type === 'image/gif') return inspectImage(bytes, limits);
  const { width, height } = await requireDecoded(new Bun.Image(bytes).metadata());
  checkSize(width, height, limits);
  return { type, width, height };
}

function encode(image: Bun.Image, format: Format): Promise<Uint8Array> {
  switch (format) {
    case 'jpeg':
      return requireDecoded(image.jpeg({ quality: jpegQuality, progressive: true }).bytes());
    case 'png':
      return requireDecoded(image.png().bytes());
    case 'webp':
      return requireDecoded(image.webp({ quality: webpQuality }).bytes());
  }
}
