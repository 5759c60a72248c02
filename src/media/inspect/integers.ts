/** Integers in files of images: what is beyond the end counts as 0, so that a file that is cut short is only a wrong one. */

/** The most significant byte first, as JPEG has it. */
export function readBigUint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** The least significant byte first, as GIF and WebP have it. */
export function readUint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** The same of three bytes. */
export function readUint24(bytes: Uint8Array, at: number): number {
  return readUint16(bytes, at) | ((bytes[at + 2] ?? 0) << 16);
}

/** The same of four bytes. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (readUint24(bytes, at) | ((bytes[at + 3] ?? 0) << 24)) >>> 0;
}
