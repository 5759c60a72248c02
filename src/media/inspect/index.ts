/**
 * Inspects an image by its content, whatever its name and Content-Type say: reads its size, and removes everything
 * that is not part of the picture. No pixel is decoded before the header says how many there are.
 */
import { inspectGif } from './gif.ts';
import { ImageError, type Inspected, type KeptType, type Limits } from './image.ts';
import { inspectJpeg } from './jpeg.ts';
import { inspectPng } from './png.ts';
import { inspectWebp } from './webp.ts';

/** The type of a file according to its first bytes. AVIF is read if the machine can, and stored as WebP. */
export type Sniffed = KeptType | 'image/avif' | undefined;

const taken = 'JPEG, PNG, WebP and GIF are accepted, and AVIF if the machine of the service can read it';

export function sniff(bytes: Uint8Array): Sniffed {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  if (head.slice(4, 8) === 'ftyp' && /^avi[fs]/.test(head.slice(8, 12))) return 'image/avif';
  return undefined;
}

/** The error for a file that is no supported image; the message says what it looks like, if that is known. */
export function createUnsupportedImageError(bytes: Uint8Array): ImageError {
  if (bytes.length === 0) return new ImageError('invalid', 'is empty');
  const start = new TextDecoder().decode(bytes.subarray(0, 1024)).toLowerCase();
  const looks = start.includes('<svg')
    ? ' (it is SVG, which can contain scripts)'
    : start.trimStart().startsWith('<')
      ? ' (it is text with markup)'
      : '';
  return new ImageError('unsupported', `is not an image in a supported format${looks}: ${taken}`);
}

/** @throws ImageError */
export async function inspectImage(bytes: Uint8Array, limits: Limits): Promise<Inspected> {
  switch (sniff(bytes)) {
    case 'image/jpeg':
      return inspectJpeg(bytes, limits);
    case 'image/png':
      return inspectPng(bytes, limits);
    case 'image/webp':
      return inspectWebp(bytes, limits);
    case 'image/gif':
      return inspectGif(bytes, limits);
    default:
      throw createUnsupportedImageError(bytes);
  }
}
