/**
 * Inspects JPEG (ITU-T T.81): reads its size, and removes EXIF, locations, thumbnails, comments and anything after its
 * end. The compressed picture is kept as it is, so that no quality is lost. Of EXIF, only the orientation is kept:
 * turning the pixels would take eight bytes of memory per pixel.
 */
import { takeTurn } from '../../turns/index.ts';
import { buildExif, getTiff, parseOrientation } from './exif.ts';
import {
  checkSize,
  createInvalidImageError,
  createTruncatedImageError,
  ImageError,
  type Inspected,
  type Limits,
} from './image.ts';
import { readBigUint16 } from './integers.ts';

const format = 'JPEG';
/** The most scans of a picture: each covers all of it, and a progressive JPEG has about ten. */
const maxScans = 100;
const maxSegments = 20_000;
/** The bytes of compressed data that are searched between two turns of the event loop. */
const bytesAtOnce = 1 << 20;

const [startOfImage, endOfImage, startOfScan] = [0xd8, 0xd9, 0xda];
/** Baseline, extended and progressive with Huffman codes: the kinds that browsers show. */
const readFrames = [0xc0, 0xc1, 0xc2];
const tables = [0xc4, 0xdb, 0xdd];

/** 64 coefficients of two bytes. */
const bytesOfBlock = 128;

interface Frame {
  readonly width: number;
  readonly height: number;
  /** The number of separately compressed blocks: each takes at least one bit. */
  readonly units: number;
  readonly progressive: boolean;
  readonly components: number;
  /** The size of all coefficients in bytes. If they come in several scans, the decoder holds all of them at once. */
  readonly coefficients: number;
}

/** @throws ImageError */
export async function inspectJpeg(bytes: Uint8Array, limits: Limits): Promise<Inspected> {
  const pieces: Uint8Array[] = [bytes.subarray(0, 2)];
  let frame: Frame | undefined;
  let orientation: number | undefined;
  let [scans, scanned] = [0, 0];
  let at = 2;
  for (let segments = 0; ; segments++) {
    if (segments > maxSegments) throw createInvalidImageError('is a JPEG with too many segments');
    const marker = readMarker(bytes, at);
    if (marker.code === endOfImage) {
      pieces.push(Uint8Array.of(0xff, endOfImage));
      break;
    }
    const end = findSegmentEnd(bytes, marker.next);
    const content = bytes.subarray(marker.next + 2, end);
    if (isFrame(marker.code)) {
      if (frame !== undefined) throw createInvalidImageError('is a JPEG with two pictures in one');
      frame = parseFrame(marker.code, content);
      checkSize(frame.width, frame.height, limits);
    }
    if (orientation === undefined && marker.code === 0xe1 && isNamed(content, 'Exif\0')) {
      orientation = parseOrientation(getTiff(content));
      if (orientation > 1) pieces.push(buildSegment(0xe1, buildExif(orientation)));
    }
    if (isKept(marker.code, content)) pieces.push(bytes.subarray(marker.next - 2, end));
    else if (marker.code === 0xe0 && isNamed(content, 'JFIF\0')) pieces.push(removeThumbnail(content));
    at = end;
    if (marker.code !== startOfScan) continue;
    if (frame === undefined) throw createInvalidImageError('is a JPEG whose picture comes before its size');
    scans += 1;
    if (frame.progressive || (content[0] ?? 0) < frame.components) checkMemory(frame, limits);
    if (scans > maxScans) throw createInvalidImageError(`is a JPEG with more than ${maxScans} scans`);
    const scanEnd = await findScanEnd(bytes, end);
    pieces.push(bytes.subarray(end, scanEnd));
    scanned += scanEnd - end;
    at = scanEnd;
  }
  if (frame === undefined || scans === 0) throw createInvalidImageError('is a JPEG without a picture');
  if (scanned * 8 < frame.units) {
    throw createInvalidImageError(
      `is a JPEG with ${scanned} bytes of image data, too few for the ${frame.width} × ${frame.height} pixels that it claims`,
    );
  }
  const isUpright = orientation === undefined || orientation < 5;
  const [width, height] = isUpright ? [frame.width, frame.height] : [frame.height, frame.width];
  return { type: 'image/jpeg', width, height, orientation: 1, animated: false, pieces };
}

/** @returns the code of the marker at `start`, and the index after it */
function readMarker(bytes: Uint8Array, start: number): { code: number; next: number } {
  let at = start;
  if (at >= bytes.length) throw createTruncatedImageError(format);
  if (bytes[at] !== 0xff)
    throw createInvalidImageError(`is a JPEG with something other than a marker at byte ${at}`);
  while (bytes[at] === 0xff) at += 1;
  const code = bytes[at];
  if (code === undefined) throw createTruncatedImageError(format);
  if (code === 0 || code === startOfImage || (code >= 0xd0 && code <= 0xd7) || code < 0xc0) {
    throw createInvalidImageError(`is a JPEG with a marker at byte ${at - 1} that is not allowed there`);
  }
  return { code, next: at + 1 };
}

function findSegmentEnd(bytes: Uint8Array, start: number): number {
  if (start + 2 > bytes.length) throw createTruncatedImageError(format);
  const length = readBigUint16(bytes, start);
  if (length < 2) throw createInvalidImageError(`is a JPEG with a segment of ${length} bytes`);
  if (start + length > bytes.length) throw createTruncatedImageError(format);
  return start + length;
}

const isFrame = (code: number): boolean =>
  code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;

function parseFrame(code: number, content: Uint8Array): Frame {
  if (!readFrames.includes(code)) {
    throw new ImageError(
      'unsupported',
      'is a JPEG of a kind that browsers do not show (lossless or arithmetic)',
    );
  }
  const components = content[5] ?? 0;
  if (content.length < 6 + components * 3 || components < 1 || components > 4)
    throw createInvalidImageError('is a JPEG whose header is broken');
  if (content[0] !== 8)
    throw new ImageError('unsupported', `is a JPEG of ${content[0]} bits, which browsers do not show`);
  const [height, width] = [readBigUint16(content, 1), readBigUint16(content, 3)];
  let [across, down, blocks] = [1, 1, 0];
  for (let index = 0; index < components; index++) {
    const sampling = content[7 + index * 3] ?? 0;
    const [horizontal, vertical] = [sampling >> 4, sampling & 15];
    if (horizontal < 1 || horizontal > 4 || vertical < 1 || vertical > 4)
      throw createInvalidImageError('is a JPEG whose header is broken');
    [across, down] = [Math.max(across, horizontal), Math.max(down, vertical)];
    blocks += horizontal * vertical;
  }
  const units = Math.ceil(width / (8 * across)) * Math.ceil(height / (8 * down));
  const coefficients = units * blocks * bytesOfBlock;
  return { width, height, units, progressive: code === 0xc2, components, coefficients };
}

/** @throws ImageError when the coefficients take more memory than the pixels of the largest image */
function checkMemory({ width, height, coefficients }: Frame, limits: Limits): void {
  if (coefficients <= limits.pixels * 4) return;
  throw new ImageError(
    'large',
    `is ${width} × ${height} pixels in several scans, which take ${coefficients} bytes to decode; at most ${limits.pixels * 4} are accepted`,
  );
}

/** Whether to keep a segment: tables, the picture, its colour profile, and Adobe's segment about its colours. */
function isKept(code: number, content: Uint8Array): boolean {
  if (isFrame(code) || code === startOfScan || tables.includes(code)) return true;
  return (code === 0xe2 && isNamed(content, 'ICC_PROFILE\0')) || (code === 0xee && isNamed(content, 'Adobe'));
}

/** The segment of the JFIF header, which gives the pixel density, without its thumbnail. */
function removeThumbnail(content: Uint8Array): Uint8Array {
  return buildSegment(0xe0, Uint8Array.of(...content.subarray(0, 12), 0, 0));
}

const buildSegment = (code: number, content: Uint8Array): Uint8Array =>
  Uint8Array.of(0xff, code, 0, content.length + 2, ...content);

/** @returns the index of the marker that ends the compressed data */
async function findScanEnd(bytes: Uint8Array, start: number): Promise<number> {
  const last = bytes.length - 1;
  for (let from = start; from < last; from += bytesAtOnce) {
    const found = findMarker(bytes, from, Math.min(from + bytesAtOnce, last));
    if (found !== undefined) return found;
    await takeTurn();
  }
  throw createTruncatedImageError(format);
}

/** 0xff is data before 0, a restart marker before 0xd0 to 0xd7, and padding before another 0xff. */
function findMarker(bytes: Uint8Array, from: number, to: number): number | undefined {
  for (let at = from; at < to; at++) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return undefined;
}

function isNamed(content: Uint8Array, name: string): boolean {
  for (let index = 0; index < name.length; index++)
    if (content[index] !== name.charCodeAt(index)) return false;
  return true;
}
