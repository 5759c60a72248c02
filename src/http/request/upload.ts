/** Bodies that are a file, raw or in a form with further texts, or JSON if the operation accepts that instead. */
import type { z } from 'zod';
import type { UploadBody, UploadSpec } from '../endpoint.ts';
import { createFieldError, HttpError } from '../errors.ts';
import { json } from '../negotiate.ts';
import { parseParts } from './multipart.ts';

export const formData = 'multipart/form-data';
/** Bytes that a form may add to its file. */
const roomForForm = 64 * 1024;
/** Maximum size of a text in a form. A longer one is refused before decoding, which would block other requests. */
const maxTextLength = roomForForm;
export const filePart = 'file';

/** Maximum size of the body in bytes. @param jsonLimit the limit for JSON */
export function getUploadLimit(spec: UploadSpec, type: string, jsonLimit: number): number {
  if (type === json) return jsonLimit;
  return type === formData ? spec.limit + roomForForm : spec.limit;
}

interface FormChecks {
  /** Receives the names of the parts, and may refuse them. */
  inspect(value: unknown): void;
  /** Validates the texts. */
  check(schema: z.ZodType, value: unknown): unknown;
}

/**
 * Parses a body that is not JSON.
 * @throws HttpError 400 for a form without a file or with invalid texts, 413 for a file that is too large
 */
export function parseUpload(
  spec: UploadSpec,
  { type, contentType }: { readonly type: string; readonly contentType: string },
  bytes: Uint8Array,
  { inspect, check }: FormChecks,
): UploadBody<unknown, unknown> {
  if (type !== formData) return { kind: 'file', file: bytes, texts: check(spec.texts, {}) };
  const texts: Record<string, string> = {};
  const names = new Set<string>();
  let file: Uint8Array | undefined;
  for (const { name, content } of parseParts(bytes, contentType)) {
    names.add(name);
    if (name === filePart) {
      if (file !== undefined) throw createFieldError(name, 'repeated', 'must be given only once');
      file = content;
      continue;
    }
    if (Object.hasOwn(spec.texts.shape, name)) {
      if (Object.hasOwn(texts, name)) throw createFieldError(name, 'repeated', 'must be given only once');
      texts[name] = decodeText(name, content);
    }
  }
  inspect(Object.fromEntries([...names].map(name => [name, ''])));
  if (file === undefined)
    throw createFieldError(filePart, 'required', 'is required: the part with the image');
  if (file.byteLength > spec.limit) {
    throw new HttpError('PAYLOAD_TOO_LARGE', { message: `The file is larger than ${spec.limit} bytes.` });
  }
  return { kind: 'file', file, texts: check(spec.texts, texts) };
}

function decodeText(name: string, content: Uint8Array): string {
  if (content.byteLength > maxTextLength)
    throw createFieldError(name, 'maxLength', `must be at most ${maxTextLength} bytes long`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw createFieldError(name, 'characters', 'must be valid UTF-8');
  }
}

/**
 * The parts of such a body that must be equal in a repetition with the same Idempotency-Key. The bytes will not do:
 * forms have a new boundary each time, and files are long.
 */
export function computeIdentity({ file, texts }: { file: Uint8Array; texts: unknown }): Uint8Array {
  const hash = new Bun.CryptoHasher('sha256').update(file).digest('hex');
  return Buffer.from(JSON.stringify([hash, texts]));
}
