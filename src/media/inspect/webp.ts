/** Inspects WebP (RFC 9649): reads its size, and removes EXIF, XMP, unknown chunks and anything after its end. */
import { takeTurn } from '../../turns/index.ts';
import { getTiff, parseOrientation } from './exif.ts';
import {
  type Chunk,
  checkFrames,
  checkWhole,
  createInvalidImageError,
  createTruncatedImageError,
  type FirstPicture,
  type Inspected,
  type Limits,
} from './image.ts';
import { readUint16, readUint24, readUint32 } from './integers.ts';

const format = 'WebP';
const maxChunks = 10_000;
/** Flags of VP8X. */
const [hasProfile, hasAlpha, hasExif, hasXmp, hasAnimation] = [0x20, 0x10, 0x08, 0x04, 0x02];
const keptChunks: ReadonlySet<string> = new Set(['VP8X', 'ICCP', 'ANIM', 'ANMF', 'ALPH', 'VP8 ', 'VP8L']);
const pictureChunks: ReadonlySet<string> = new Set(['ALPH', 'VP8 ', 'VP8L']);

interface Size {
  readonly width: number;
  readonly height: number;
}

/** @throws ImageError */
export async function inspectWebp(bytes: Uint8Array, limits: Limits): Promise<Inspected> {
  const end = findRiffEnd(bytes);
  const kept: Uint8Array[] = [];
  let canvas: Size | undefined;
  let picture: Size | undefined;
  let profile: Uint8Array | undefined;
  let first: FirstPicture | undefined;
  let orientation = 1;
  let [frames, isAnimated] = [0, false];
  for (const chunk of readChunks(bytes.subarray(0, end), 12)) {
    const { type, content } = chunk;
    if (type === 'EXIF') orientation = parseOrientation(getTiff(content));
    if (!keptChunks.has(type)) continue;
    if (type === 'VP8X') {
      canvas = parseCanvas(content);
      checkWhole(canvas.width, canvas.height, limits);
      isAnimated = ((content[0] ?? 0) & hasAnimation) !== 0;
      kept.push(clearFlags(chunk.whole));
    } else if (type === 'ANMF') {
      frames += 1;
      const frame = parseFrame(content, canvas);
      if (canvas !== undefined) checkFrames(frames, canvas, limits);
      first ??= buildFirstPicture(frame, profile);
      kept.push(frame.whole);
    } else {
      if (type === 'VP8 ' || type === 'VP8L') {
        if (picture !== undefined) throw createInvalidImageError('is a WebP with two pictures in one');
        picture = parsePictureSize(chunk);
        checkWhole(picture.width, picture.height, limits);
      }
      if (type === 'ICCP') profile = chunk.whole;
      kept.push(chunk.whole);
    }
    await takeTurn();
  }
  const size = isAnimated ? (frames === 0 ? undefined : canvas) : picture;
  if (size === undefined) throw createInvalidImageError('is a WebP without a picture');
  if (canvas !== undefined && (canvas.width !== size.width || canvas.height !== size.height))
    throw createInvalidImageError('is a WebP whose header and image differ in size');
  return {
    type: 'image/webp',
    ...size,
    orientation,
    animated: isAnimated,
    pieces: buildRiff(kept),
    ...(isAnimated && first !== undefined ? { first } : {}),
  };
}

function findRiffEnd(bytes: Uint8Array): number {
  const end = 8 + readUint32(bytes, 4);
  if (end > bytes.length) throw createTruncatedImageError(format);
  return end;
}

function* readChunks(bytes: Uint8Array, start: number): Generator<Chunk> {
  for (let [at, count] = [start, 0]; at + 8 <= bytes.length; count++) {
    if (count > maxChunks) throw createInvalidImageError('is a WebP with too many chunks');
    const length = readUint32(bytes, at + 4);
    if (at + 8 + length > bytes.length) throw createTruncatedImageError(format);
    const content = bytes.subarray(at + 8, at + 8 + length);
    const end = Math.min(at + 8 + length + (length % 2), bytes.length);
    yield { type: readName(bytes, at), content, whole: padToEven(bytes.subarray(at, end)) };
    at = end;
  }
}

/** Adds a padding byte, which may be missing at the end of a file that is otherwise whole. */
function padToEven(chunk: Uint8Array): Uint8Array {
  if (chunk.length % 2 === 0) return chunk;
  const padded = new Uint8Array(chunk.length + 1);
  padded.set(chunk);
  return padded;
}

function parseCanvas(content: Uint8Array): Size {
  if (content.length < 10) throw createInvalidImageError('is a WebP whose header is broken');
  return { width: readUint24(content, 4) + 1, height: readUint24(content, 7) + 1 };
}

function parsePictureSize({ type, content }: Chunk): Size {
  if (type === 'VP8L') {
    if (content[0] !== 0x2f || content.length < 5)
      throw createInvalidImageError('is a WebP whose picture does not begin as one');
    const bits = readUint32(content, 1);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  const isKey = ((content[0] ?? 1) & 1) === 0;
  const starts = content[3] === 0x9d && content[4] === 0x01 && content[5] === 0x2a;
  if (content.length < 10 || !isKey || !starts)
    throw createInvalidImageError('is a WebP whose picture does not begin as one');
  return { width: readUint16(content, 6) & 0x3fff, height: readUint16(content, 8) & 0x3fff };
}

/** One picture of an animation, without other chunks. */
interface Frame extends Size {
  readonly left: number;
  readonly top: number;
  /** The chunks of the picture. */
  readonly parts: readonly Chunk[];
  readonly whole: Uint8Array;
}

function parseFrame(content: Uint8Array, canvas: Size | undefined): Frame {
  if (canvas === undefined || content.length < 16)
    throw createInvalidImageError('is an animation whose pictures are broken');
  const [left, top] = [readUint24(content, 0) * 2, readUint24(content, 3) * 2];
  const [width, height] = [readUint24(content, 6) + 1, readUint24(content, 9) + 1];
  if (left + width > canvas.width || top + height > canvas.height)
    throw createInvalidImageError('is an animation with a picture larger than the whole');
  const parts = [...readChunks(content, 16)].filter(({ type }) => pictureChunks.has(type));
  const picture = parts.find(({ type }) => type !== 'ALPH');
  const size = picture === undefined ? undefined : parsePictureSize(picture);
  if (size?.width !== width || size.height !== height)
    throw createInvalidImageError('is an animation whose pictures are broken');
  const body = [content.subarray(0, 16), ...parts.map(({ whole }) => whole)];
  return { left, top, width, height, parts, whole: buildChunk('ANMF', body) };
}

/**
 * The same picture as a separate file. Made of the first one only: each file has a copy of the profile.
 * @param profile the chunk with the colour profile of the animation
 */
function buildFirstPicture(
  { parts, whole: _, ...place }: Frame,
  profile: Uint8Array | undefined,
): FirstPicture {
  const wholes = parts.map(({ whole }) => whole);
  const isExtended = profile !== undefined || parts.some(({ type }) => type === 'ALPH');
  const head = profile === undefined ? [] : [profile];
  const flags = profile === undefined ? hasAlpha : hasAlpha | hasProfile;
  const file = isExtended ? [buildExtendedHeader(place, flags), ...head, ...wholes] : wholes;
  return { ...place, file: Buffer.concat(buildRiff(file)) };
}

/** The VP8X chunk of a still picture. */
function buildExtendedHeader({ width, height }: Size, flags: number): Uint8Array {
  const content = new Uint8Array(10);
  content[0] = flags;
  new DataView(content.buffer).setUint32(4, width - 1, true);
  for (const [index, shift] of [0, 8, 16].entries()) content[7 + index] = ((height - 1) >> shift) & 0xff;
  return buildChunk('VP8X', [content]);
}

function clearFlags(whole: Uint8Array): Uint8Array {
  const copy = whole.slice();
  copy[8] = (copy[8] ?? 0) & ~(hasExif | hasXmp);
  return copy;
}

function buildChunk(name: string, parts: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(parts);
  return Buffer.concat([buildChunkHead(name, body.length), body, new Uint8Array(body.length % 2)]);
}

function buildRiff(chunks: readonly Uint8Array[]): Uint8Array[] {
  const size = chunks.reduce((sum, { length }) => sum + length, 4);
  return [buildChunkHead('RIFF', size), Buffer.from('WEBP', 'latin1'), ...chunks];
}

function buildChunkHead(name: string, length: number): Uint8Array {
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(length, 4);
  return head;
}

const readName = (bytes: Uint8Array, at: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + 4));
