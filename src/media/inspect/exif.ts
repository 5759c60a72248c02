/** Reads and writes the orientation in EXIF: the only tag that is needed to show a picture as it was taken. */

const orientationTag = 0x0112;
const shortType = 3;
/** At most this many entries of a directory are read. */
const maxEntries = 1000;

/**
 * @param tiff a block that begins with the byte order: `II` or `MM`
 * @returns 1 to 8; 1 if there is no valid orientation
 */
export function parseOrientation(tiff: Uint8Array): number {
  if (tiff.byteLength < 14) return 1;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const order = view.getUint16(0);
  if (order !== 0x4949 && order !== 0x4d4d) return 1;
  const little = order === 0x4949;
  if (view.getUint16(2, little) !== 42) return 1;
  const directory = view.getUint32(4, little);
  if (directory + 2 > tiff.byteLength) return 1;
  const entries = Math.min(view.getUint16(directory, little), maxEntries);
  for (let index = 0; index < entries; index++) {
    const entry = directory + 2 + index * 12;
    if (entry + 12 > tiff.byteLength) return 1;
    if (view.getUint16(entry, little) !== orientationTag) continue;
    if (view.getUint16(entry + 2, little) !== shortType) return 1;
    const value = view.getUint16(entry + 8, little);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

const exifHeader = [0x45, 0x78, 0x69, 0x66, 0, 0];

/** Builds an EXIF block with only the orientation. */
export function buildExif(orientation: number): Uint8Array {
  const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, orientationTag >> 8, orientationTag & 0xff];
  return Uint8Array.of(...exifHeader, ...tiff, 0, shortType, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0);
}

/** The TIFF data in a block, which may begin with `Exif\0\0`, as in JPEG and in some WebP files. */
export function getTiff(block: Uint8Array): Uint8Array {
  return exifHeader.every((byte, index) => block[index] === byte) ? block.subarray(exifHeader.length) : block;
}
