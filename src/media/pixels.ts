/**
 * Pixels as bytes, for operations that Bun.Image lacks: cropping, and putting transparent pictures on white. Bun.Image
 * neither returns nor takes pixels, so they are passed as uncompressed PNG: rows of bytes with a few around them.
 */
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { getErrorCode } from '../error-text.ts';
import { takeTurn } from '../turns/index.ts';
import { createInvalidImageError } from './inspect/image.ts';

/** Eight bits each of red, green, blue and opacity, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
  /** The chunk with the colour profile, if there is one. */
  readonly profile: Uint8Array | undefined;
}

const channels = 4;
const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const inflateAll = promisify(inflate);
const deflateAll = promisify<Uint8Array, { level: number }, Buffer>(deflate);

/** @throws ImageError when the image cannot be decoded */
export async function decodePixels(image: Bun.Image): Promise<Pixels> {
  const png = await requireDecoded(image.png({ compressionLevel: 0 }).bytes());
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const data: Uint8Array[] = [];
  let profile: Uint8Array | undefined;
  for (let at = signature.length; at < png.length; ) {
    const end = at + 12 + view.getUint32(at);
    const type = String.fromCharCode(...png.subarray(at + 4, at + 8));
    if (type === 'IDAT') data.push(png.subarray(at + 8, end - 4));
    if (type === 'iCCP') profile = png.subarray(at, end);
    at = end;
  }
  const rows = await inflateAll(Buffer.concat(data));
  const row = width * channels;
  for (let y = 0; y < height; y++)
    if (rows[y * (row + 1)] !== 0)
      throw new Error('a PNG without compression has a filter: Bun.Image has changed');
  const rgba = new Uint8Array(row * height);
  await copyInTurns(
    { bytes: rows, start: 1, step: row + 1 },
    { bytes: rgba, start: 0, step: row },
    row,
    height,
  );
  return { width, height, rgba, profile };
}

/** Rows of bytes: where the first begins, and how far the next is. */
interface Rows {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly step: number;
}

/** Copies rows of this length, in turns: a picture may have tens of megabytes. */
async function copyInTurns(from: Rows, to: Rows, length: number, count: number): Promise<void> {
  for (let y = 0; y < count; y++) {
    const start = from.start + y * from.step;
    to.bytes.set(from.bytes.subarray(start, start + length), to.start + y * to.step);
    await takeTurn();
  }
}

/** Encodes pixels as a PNG that Bun.Image can read. */
export async function encodePng({ width, height, rgba, profile }: Pixels): Promise<Uint8Array> {
  const row = width * channels;
  const rows = new Uint8Array((row + 1) * height);
  await copyInTurns(
    { bytes: rgba, start: 0, step: row },
    { bytes: rows, start: 1, step: row + 1 },
    row,
    height,
  );
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8);
  return Buffer.concat([
    signature,
    buildChunk('IHDR', header),
    ...(profile === undefined ? [] : [profile]),
    buildChunk('IDAT', await deflateAll(rows, { level: 0 })),
    buildChunk('IEND', new Uint8Array()),
  ]);
}

function buildChunk(type: string, content: Uint8Array): Uint8Array {
  const whole = Buffer.alloc(12 + content.length);
  whole.writeUInt32BE(content.length, 0);
  whole.write(type, 4, 'latin1');
  whole.set(content, 8);
  whole.writeUInt32BE(Bun.hash.crc32(whole.subarray(4, 8 + content.length)), 8 + content.length);
  return whole;
}

/** Crops a picture to a smaller size around its middle. */
export async function cutOut(pixels: Pixels, width: number, height: number): Promise<Pixels> {
  const left = Math.floor((pixels.width - width) / 2);
  const top = Math.floor((pixels.height - height) / 2);
  const rgba = new Uint8Array(width * height * channels);
  const [row, step] = [width * channels, pixels.width * channels];
  const from = { bytes: pixels.rgba, start: (top * pixels.width + left) * channels, step };
  await copyInTurns(from, { bytes: rgba, start: 0, step: row }, row, height);
  return { ...pixels, width, height, rgba };
}

/** Places a picture in a larger one that is transparent elsewhere. */
export async function placeWithin(
  pixels: Pixels,
  { width, height }: { readonly width: number; readonly height: number },
  { left, top }: { readonly left: number; readonly top: number },
): Promise<Pixels> {
  const rgba = new Uint8Array(width * height * channels);
  const [row, step] = [pixels.width * channels, width * channels];
  const to = { bytes: rgba, start: (top * width + left) * channels, step };
  await copyInTurns({ bytes: pixels.rgba, start: 0, step: row }, to, row, pixels.height);
  return { ...pixels, width, height, rgba };
}

/** Puts a picture on white, for formats without transparency. */
export async function onWhite(pixels: Pixels): Promise<Pixels> {
  const rgba = pixels.rgba.slice();
  const row = pixels.width * channels;
  for (let start = 0; start < rgba.length; start += row) {
    for (let at = start; at < start + row; at += channels) {
      const opacity = rgba[at + 3] ?? 0;
      if (opacity === 255) continue;
      for (let channel = at; channel < at + 3; channel++)
        rgba[channel] = Math.round(((rgba[channel] ?? 0) * opacity + 255 * (255 - opacity)) / 255);
      rgba[at + 3] = 255;
    }
    await takeTurn();
  }
  return { ...pixels, rgba };
}

/** The mean colour, weighted by opacity, as `#rrggbb`; white if nothing is visible. */
export function computeMeanColour({ rgba }: Pixels): string {
  const sums = [0, 0, 0];
  let weight = 0;
  for (let at = 0; at < rgba.length; at += channels) {
    const opacity = rgba[at + 3] ?? 0;
    weight += opacity;
    for (const channel of [0, 1, 2])
      sums[channel] = (sums[channel] ?? 0) + (rgba[at + channel] ?? 0) * opacity;
  }
  const means = sums.map(sum => (weight === 0 ? 255 : Math.round(sum / weight)));
  return `#${means.map(mean => mean.toString(16).padStart(2, '0')).join('')}`;
}

/** A result of Bun.Image. @throws ImageError when Bun.Image cannot decode the file, which is then damaged */
export async function requireDecoded<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (getErrorCode(error)?.startsWith('ERR_IMAGE_') !== true) throw error;
    throw Object.assign(createInvalidImageError('cannot be decoded: the file is damaged'), { cause: error });
  }
}
