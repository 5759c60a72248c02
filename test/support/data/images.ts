/** Valid, broken and hostile images for tests to send, made byte by byte or by Bun.Image. */
import { deflateSync } from 'node:zlib';
import { call, type Received } from '../http/http.ts';
import type { TestService } from '../service/service.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A chunk of a PNG, with its checksum. */
export function pngChunk(type: string, content: Uint8Array): Bytes {
  const whole = Buffer.alloc(12 + content.length);
  whole.writeUInt32BE(content.length, 0);
  whole.write(type, 4, 'latin1');
  whole.set(content, 8);
  whole.writeUInt32BE(Bun.hash.crc32(whole.subarray(4, 8 + content.length)), 8 + content.length);
  return whole;
}

interface PngOptions {
  /** Red, green, blue and opacity of a pixel. */
  readonly pixel?: (x: number, y: number) => readonly [number, number, number, number];
  /** Chunks before the picture. */
  readonly chunks?: readonly Uint8Array[];
  /** The picture before compression, in place of that of the pixels. */
  readonly data?: Uint8Array;
  /** Text after the end of the image. */
  readonly rest?: string;
}

const gradient = (x: number, y: number) => [x & 255, y & 255, (x * y) & 255, 255] as const;

/** A PNG with transparency. */
export function png(width: number, height: number, options: PngOptions = {}): Bytes {
  const { pixel = gradient, chunks = [], rest = '' } = options;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8);
  const data = options.data ?? rowsOf(width, height, pixel);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', deflateSync(data, { level: 1 })),
    pngChunk('IEND', new Uint8Array()),
    Buffer.from(rest),
  ]);
}

function rowsOf(width: number, height: number, pixel: NonNullable<PngOptions['pixel']>): Uint8Array {
  const row = width * 4 + 1;
  const rows = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rows.set(pixel(x, y), y * row + 1 + x * 4);
  return rows;
}

/** A PNG of a single colour. */
export const plainPng = (width: number, height: number, red: number, green: number, blue: number): Bytes =>
  png(width, height, { pixel: () => [red, green, blue, 255] });

/** An image that cannot be compressed, the same in each run. */
export function noise(width: number, height: number): Bytes {
  let state = 1;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return (state >> 16) & 255;
  };
  return png(width, height, { pixel: () => [next(), next(), next(), 255] });
}

export async function jpeg(width: number, height: number): Promise<Bytes> {
  return Buffer.from(await new Bun.Image(png(width, height)).jpeg({ quality: 90 }).bytes());
}

export async function webp(width: number, height: number): Promise<Bytes> {
  return Buffer.from(await new Bun.Image(png(width, height)).webp().bytes());
}

/** A GIF of one pixel. */
export const gif = (): Bytes =>
  Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** The TIFF structure of EXIF: an orientation, and a text that must not be published. */
function exif(orientation: number, text: string): Bytes {
  const value = Buffer.from(`${text}\0`, 'latin1');
  const tiff = Buffer.alloc(38);
  tiff.write('II*\0', 0, 'latin1');
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(2, 8);
  // Make, with its text after the directory; then Orientation.
  tiff.writeUInt16LE(0x010f, 10);
  tiff.writeUInt16LE(2, 12);
  tiff.writeUInt32LE(value.length, 14);
  tiff.writeUInt32LE(38, 18);
  tiff.writeUInt16LE(0x0112, 22);
  tiff.writeUInt16LE(3, 24);
  tiff.writeUInt32LE(1, 26);
  tiff.writeUInt16LE(orientation, 30);
  return Buffer.concat([tiff, value]);
}

/** A segment of a JPEG. */
const jpegSegment = (code: number, content: Uint8Array): Bytes =>
  Buffer.concat([Uint8Array.of(0xff, code, (content.length + 2) >> 8, (content.length + 2) & 255), content]);

/** The JPEG with segments inserted after its first marker. */
export const withSegments = (whole: Uint8Array, ...segments: readonly Uint8Array[]): Bytes =>
  Buffer.concat([whole.subarray(0, 2), ...segments, whole.subarray(2)]);

export const exifSegment = (orientation: number, text: string): Bytes =>
  jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif(orientation, text)]));

/** A RIFF chunk, as in WebP. */
function riffChunk(type: string, content: Uint8Array): Bytes {
  const head = Buffer.from(`${type}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, new Uint8Array(content.length % 2)]);
}

/** A WebP of two pictures, one after the other, with EXIF. */
export async function animatedWebp(width: number, height: number, text: string): Promise<Bytes> {
  const picture = (await webp(width, height)).subarray(12);
  const frame = Buffer.alloc(16);
  frame.writeUIntLE(width - 1, 6, 3);
  frame.writeUIntLE(height - 1, 9, 3);
  const extended = Buffer.alloc(10);
  extended[0] = 0x02 | 0x08;
  extended.writeUIntLE(width - 1, 4, 3);
  extended.writeUIntLE(height - 1, 7, 3);
  const pictures = riffChunk('ANMF', Buffer.concat([frame, picture]));
  return riffChunk(
    'RIFF',
    Buffer.concat([
      Buffer.from('WEBP'),
      riffChunk('VP8X', extended),
      riffChunk('ANIM', new Uint8Array(6)),
      ...[pictures, pictures],
      riffChunk('EXIF', exif(1, text)),
    ]),
  );
}

/** Sends an image to a product: as a form if it is one, otherwise as the raw body. */
export function sendImage(
  service: TestService,
  product: { readonly id: number },
  body: Uint8Array | FormData,
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  const path = `/v1/products/${product.id}/images`;
  const type = body instanceof FormData ? {} : { 'Content-Type': 'image/png' };
  return call(service, { method: 'POST', path, as: 'editor', body, headers: { ...type, ...headers } });
}
