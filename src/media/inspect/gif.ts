/** Inspects GIF (89a): reads its size, and removes comments, text, XMP and anything after its end. */
import { takeTurn } from '../../turns/index.ts';
import {
  checkFrames,
  checkWhole,
  createInvalidImageError,
  createTruncatedImageError,
  type FirstPicture,
  type Inspected,
  type Limits,
} from './image.ts';
import { readUint16 } from './integers.ts';

const format = 'GIF';
const [extension, image, trailer] = [0x21, 0x2c, 0x3b];
const [graphicControl, application] = [0xf9, 0xff];
/** Application extensions that say how often an animation is repeated. */
const loops: readonly string[] = ['NETSCAPE2.0', 'ANIMEXTS1.0'];
/** The number of blocks, of at most 255 bytes each, that are skipped between two turns of the event loop. */
const blocksAtOnce = 50_000;
/** Maximum number of extensions and pictures in a file: far more than an animation of allowed size has. */
const maxParts = 65_536;

/** @throws ImageError */
export async function inspectGif(bytes: Uint8Array, limits: Limits): Promise<Inspected> {
  if (bytes.length < 13) throw createTruncatedImageError(format);
  const [width, height] = [readUint16(bytes, 6), readUint16(bytes, 8)];
  checkWhole(width, height, limits);
  let at = 13 + computePaletteLength(bytes[10] ?? 0);
  const pieces: Uint8Array[] = [bytes.subarray(0, at)];
  let first: FirstPicture | undefined;
  let frames = 0;
  /** The last graphic control extension before the next picture; it says how that is shown. */
  let control: Uint8Array | undefined;
  for (let parts = 0; bytes[at] !== trailer; parts++) {
    if (parts === maxParts) throw createInvalidImageError('is a GIF with too many blocks');
    const start = at;
    const kind = bytes[at];
    if (kind === undefined) throw createTruncatedImageError(format);
    if (kind === extension) {
      at = await findBlocksEnd(bytes, at + 2);
      if (bytes[start + 1] === graphicControl) control = bytes.subarray(start, at);
      else if (isLoop(bytes, start)) pieces.push(bytes.subarray(start, at));
    } else if (kind === image) {
      frames += 1;
      checkFrames(frames, { width, height }, limits);
      at = await findBlocksEnd(bytes, findDescriptorEnd(bytes, start, width, height));
      first ??= parsePlace(bytes, start);
      if (control !== undefined) pieces.push(control);
      control = undefined;
      pieces.push(bytes.subarray(start, at));
    } else throw createInvalidImageError(`is a GIF with an unknown block at byte ${at}`);
    const pause = takeTurn();
    if (pause !== undefined) await pause;
  }
  if (first === undefined) throw createInvalidImageError('is a GIF without a picture');
  pieces.push(Uint8Array.of(trailer));
  return { type: 'image/gif', width, height, orientation: 1, animated: frames > 1, pieces, first };
}

function isLoop(bytes: Uint8Array, start: number): boolean {
  if (bytes[start + 1] !== application || bytes[start + 2] !== 11) return false;
  return loops.includes(String.fromCharCode(...bytes.subarray(start + 3, start + 14)));
}

function parsePlace(bytes: Uint8Array, descriptor: number): FirstPicture {
  return {
    left: readUint16(bytes, descriptor + 1),
    top: readUint16(bytes, descriptor + 3),
    width: readUint16(bytes, descriptor + 5),
    height: readUint16(bytes, descriptor + 7),
  };
}

/** @returns the index where the blocks of a picture begin */
function findDescriptorEnd(bytes: Uint8Array, start: number, width: number, height: number): number {
  if (start + 10 > bytes.length) throw createTruncatedImageError(format);
  const place = parsePlace(bytes, start);
  const isWithin = place.left + place.width <= width && place.top + place.height <= height;
  if (!isWithin) throw createInvalidImageError('is a GIF with a picture larger than the whole');
  if (place.width === 0 || place.height === 0)
    throw createInvalidImageError('is a GIF with an empty picture');
  const at = start + 10 + computePaletteLength(bytes[start + 9] ?? 0);
  const codeSize = bytes[at];
  if (codeSize === undefined) throw createTruncatedImageError(format);
  if (codeSize < 2 || codeSize > 8) throw createInvalidImageError('is a GIF whose picture is broken');
  return at + 1;
}

const computePaletteLength = (flags: number): number =>
  (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);

/** @returns the index after the empty block that ends a list of blocks */
async function findBlocksEnd(bytes: Uint8Array, start: number): Promise<number> {
  let at = start;
  for (;;) {
    for (let count = 0; count < blocksAtOnce; count++) {
      const length = bytes[at];
      if (length === undefined) throw createTruncatedImageError(format);
      at += 1 + length;
      if (length === 0) return at;
    }
    const pause = takeTurn();
    if (pause !== undefined) await pause;
  }
}
