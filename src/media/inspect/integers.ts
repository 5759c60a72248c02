/** Reads integers in image files. Bytes beyond the end count as 0, so that a truncated file is merely invalid. */

/** Big-endian, as in JPEG. */
export function readBigUint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Little-endian, as in GIF and WebP. */
export function readUint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** Three bytes, little-endian. */
export function readUint24(bytes: Uint8Array, at: number): number {
  return readUint16(bytes, at) | ((bytes[at + 2] ?? 0) << 16);
}

/** Four bytes, little-endian. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (readUint24(bytes, at) | ((bytes[at + 3] ?? 0) << 24)) >>> 0;
}
