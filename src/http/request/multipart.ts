/**
 * multipart/form-data (RFC 7578): the parts of a body, as views of its bytes. It needs one pass and accepts few parts,
 * since no form of this service has many.
 */
import { createFieldError, type HttpError } from '../errors.ts';

export interface Part {
  readonly name: string;
  readonly content: Uint8Array;
}

const maxParts = 20;
/** Maximum size of the headers of one part in bytes. */
const maxHeadLength = 8192;
const maxBoundaryLength = 70;

const createMultipartError = (message: string): HttpError => createFieldError('body', 'multipart', message);

/**
 * @param contentType with the boundary
 * @throws HttpError 400 if the body is not well-formed, or has too many parts
 */
export function parseParts(bytes: Uint8Array, contentType: string): Part[] {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const boundary = parseBoundary(contentType);
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  // The first delimiter is at the beginning, or follows a preamble, which is ignored.
  const isFirst = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let at = isFirst ? delimiter.length - 2 : findEnd(body, delimiter, 0);
  const parts: Part[] = [];
  for (;;) {
    if (body.toString('latin1', at, at + 2) === '--') return parts;
    if (parts.length === maxParts) throw createMultipartError(`must have ${maxParts} parts or fewer`);
    const start = findEnd(body, Buffer.from('\r\n'), at);
    if (body.toString('latin1', at, start - 2).trim() !== '')
      throw createMultipartError('has something other than a line end after a boundary');
    // A part without headers begins with the empty line.
    const headEnd = body.subarray(start - 2, start + maxHeadLength).indexOf('\r\n\r\n');
    if (headEnd === -1) throw createMultipartError('has a part whose headers do not end');
    const contentStart = start - 2 + headEnd + 4;
    const contentEnd = body.indexOf(delimiter, contentStart - 2);
    if (contentEnd === -1) throw createMultipartError('ends before its last boundary');
    const name = parseName(body.toString('utf8', start, contentStart));
    parts.push({ name, content: body.subarray(contentStart, Math.max(contentStart, contentEnd)) });
    at = contentEnd + delimiter.length;
  }
}

/** @returns the position after the next occurrence */
function findEnd(body: Buffer, wanted: Buffer, from: number): number {
  const found = body.indexOf(wanted, from);
  if (found === -1)
    throw createMultipartError('does not contain the boundary of Content-Type, or ends before the last one');
  return found + wanted.length;
}

function parseBoundary(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  if (boundary === '' || boundary.length > maxBoundaryLength)
    throw createMultipartError('needs a boundary of 1 to 70 characters in Content-Type');
  return boundary;
}

/** Characters that browsers escape in names (WHATWG, "multipart/form-data encoding"). */
const escapes: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

function parseName(head: string): string {
  // Without `.` and `$`, for which U+2028, a valid character of names, ends a line.
  const disposition = /(?:^|[\r\n])content-disposition:[ \t]*form-data[ \t]*;([^\r\n]*)/i.exec(head)?.[1];
  const parameter = splitParameters(disposition ?? '').find(one => /^\s*name\s*=/i.test(one));
  const [, quoted, plain] = /=\s*(?:"([^"]*)"|([^\s"]+))/.exec(parameter ?? '') ?? [];
  const name = quoted ?? plain;
  if (name === undefined) throw createMultipartError('has a part without a name in Content-Disposition');
  return name.replaceAll(/%22|%0D|%0A/gi, found => escapes[found.toUpperCase()] ?? found);
}

/** Splits the parameters of a header at the semicolons outside quotation marks: a file's name may contain `; name=`. */
function splitParameters(text: string): string[] {
  const parameters: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (isQuoted && text[at] === '\\') at++;
    else if (!isQuoted && text[at] === ';') {
      parameters.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parameters, text.slice(start)];
}
