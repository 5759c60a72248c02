/**
 * Inspects PNG (W3C PNG, third edition): reads its size, and removes text, times, EXIF, unknown chunks and anything
 * after its end. The inflated data must be exactly as long as the header says: a small picture may hide a lot of it.
 */
import { createInflate, inflateSync } from 'node:zlib';
import { takeTurn } from '../../turns/index.ts';
import { parseOrientation } from './exif.ts';
import {
  type Chunk,
  checkFrames,
  checkWhole,
  createInvalidImageError,
  createTruncatedImageError,
  type Inspected,
  type Limits,
} from './image.ts';

const format = 'PNG';
const maxChunks = 65_536;
/** The maximum size of a colour profile in bytes; a larger one is left out. */
const maxProfileBytes = 4 * 1024 * 1024;

/** The chunks that are needed to show the picture; `acTL`, `fcTL` and `fdAT` are those of animations. */
const keptChunks: ReadonlySet<string> = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT'.split(' '),
);
/** Colour types → their possible bits per sample. */
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const samples: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface Header {
  readonly width: number;
  readonly height: number;
  readonly bitsPerPixel: number;
  readonly interlaced: boolean;
}

/** @throws ImageError */
export async function inspectPng(bytes: Uint8Array, limits: Limits): Promise<Inspected> {
  const pieces: Uint8Array[] = [bytes.subarray(0, 8)];
  const data: Uint8Array[] = [];
  let header: Header | undefined;
  let orientation = 1;
  let frames = 0;
  let profiles = 0;
  for (const chunk of readChunks(bytes)) {
    const { type, content } = chunk;
    if (header === undefined) {
      if (type !== 'IHDR') throw createInvalidImageError('is a PNG that does not begin with its header');
      header = parseHeader(content);
      checkWhole(header.width, header.height, limits);
    } else if (type === 'IHDR') throw createInvalidImageError('is a PNG with two headers');
    if (type === 'IDAT') data.push(content);
    else if (type === 'eXIf') orientation = parseOrientation(content);
    else if (type === 'fcTL') {
      frames += 1;
      checkFrames(frames, header, limits);
      checkFrame(content, header);
    }
    if (type === 'iCCP') {
      profiles += 1;
      // Each profile would be inflated, and a picture may have only one.
      if (profiles > 1) throw createInvalidImageError('is a PNG with two colour profiles');
      if (!isProfile(content)) continue;
    }
    if (keptChunks.has(type)) pieces.push(chunk.whole);
    await takeTurn();
  }
  if (header === undefined || data.length === 0) throw createInvalidImageError('is a PNG without a picture');
  await checkData(data, header);
  const { width, height } = header;
  return { type: 'image/png', width, height, orientation, animated: frames > 1, pieces };
}

/** Yields the chunks up to IEND. @throws ImageError when one is truncated or has a wrong checksum */
function* readChunks(bytes: Uint8Array): Generator<Chunk> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let [at, count] = [8, 0]; ; count++) {
    if (count > maxChunks) throw createInvalidImageError('is a PNG with too many chunks');
    if (at + 12 > bytes.length) throw createTruncatedImageError(format);
    const length = view.getUint32(at);
    const end = at + 12 + length;
    if (end > bytes.length) throw createTruncatedImageError(format);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (Bun.hash.crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4))
      throw createInvalidImageError(`is a PNG with a wrong checksum at byte ${at}: the file is damaged`);
    yield { type, content: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) };
    if (type === 'IEND') return;
    at = end;
  }
}

function parseHeader(content: Uint8Array): Header {
  if (content.length !== 13) throw createInvalidImageError('is a PNG whose header is broken');
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [depth, colour, compression, filter, interlace] = content.subarray(8);
  const isKnown =
    depths[colour ?? 0]?.includes(depth ?? 0) === true &&
    compression === 0 &&
    filter === 0 &&
    (interlace ?? 0) <= 1;
  if (!isKnown) throw createInvalidImageError('is a PNG whose header is broken');
  const bitsPerPixel = (samples[colour ?? 0] ?? 1) * (depth ?? 8);
  return {
    width: view.getUint32(0),
    height: view.getUint32(4),
    bitsPerPixel,
    interlaced: interlace === 1,
  };
}

function checkFrame(content: Uint8Array, { width, height }: Header): void {
  if (content.length < 26) throw createInvalidImageError('is an animation whose pictures are broken');
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const isWithin =
    view.getUint32(4) + view.getUint32(12) <= width && view.getUint32(8) + view.getUint32(16) <= height;
  if (!isWithin) throw createInvalidImageError('is an animation with a picture larger than the whole');
}

/** Whether the profile is valid and small enough; `content` is its name, 0, compression method 0 and the profile. */
function isProfile(content: Uint8Array): boolean {
  const end = content.indexOf(0);
  if (end < 1 || end > 79) return false;
  try {
    inflateSync(content.subarray(end + 2), { maxOutputLength: maxProfileBytes });
    return true;
  } catch {
    return false;
  }
}

/** The starts and steps of the passes of an interlaced picture: x, y, step across, step down. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The size of the picture before compression, in bytes: each row begins with the number of its filter. */
function computeLength({ width, height, bitsPerPixel, interlaced }: Header): number {
  const computeRowBytes = (across: number, down: number) =>
    across === 0 ? 0 : down * (1 + Math.ceil((across * bitsPerPixel) / 8));
  if (!interlaced) return computeRowBytes(width, height);
  return passes.reduce(
    (sum, [x, y, stepX, stepY]) =>
      sum +
      computeRowBytes(
        Math.max(0, Math.ceil((width - x) / stepX)),
        Math.max(0, Math.ceil((height - y) / stepY)),
      ),
    0,
  );
}

/** Checks the length of the inflated data: inflates it in the background without holding it. */
function checkData(data: readonly Uint8Array[], header: Header): Promise<void> {
  const expected = computeLength(header);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  let length = 0;
  const claim = `the ${header.width} × ${header.height} pixels that it claims`;
  inflate.on('data', (chunk: Uint8Array) => {
    length += chunk.byteLength;
    if (length <= expected) return;
    inflate.destroy();
    reject(createInvalidImageError(`is a PNG with more data than ${claim}`));
  });
  inflate.on('end', () =>
    length < expected ? reject(createInvalidImageError(`is a PNG with less data than ${claim}`)) : resolve(),
  );
  inflate.on('error', () => reject(createInvalidImageError('is a PNG whose data is damaged')));
  const write = (index: number): void => {
    const piece = data[index];
    if (piece === undefined) inflate.end();
    else inflate.write(piece, () => write(index + 1));
  };
  write(0);
  return promise;
}
