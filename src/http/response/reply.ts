/** The result of a handler, before the HTTP layers add their headers. */
import { json } from '../negotiate.ts';
import type { PageBody } from './page-body.ts';

/** A Blob is a file, sent from where it is stored. */
export type Body = string | Uint8Array<ArrayBuffer> | Blob;

export interface Reply {
  readonly status: number;
  readonly body: Body | null;
  readonly mediaType: string;
  readonly cacheControl: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Epoch milliseconds of the last change of the data in the body. */
  readonly lastModified?: number | undefined;
  /** The formatted Last-Modified, if known already. */
  readonly lastModifiedText?: string | undefined;
  /** The entity tag of the body, if known already. */
  readonly etag?: string;
  /** Whether the body represents a resource, and therefore has an entity tag. */
  readonly tagged: boolean;
  /** For a 200 with an `etag`: ranges of it can be requested, and it is already compressed. */
  readonly ranged?: true;
}

/** A client may store the response but must validate it before each use, which is cheap: it gets a 304. */
export const revalidate = 'private, max-age=0, must-revalidate';
export const noStore = 'no-store';

export interface ReplyOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly lastModified?: number;
  readonly cacheControl?: string;
}

/** 200 with a representation; `body` is a value, or JSON text ready to send. */
export function replyOk(body: object | PageBody, options: ReplyOptions = {}): Reply {
  return replyRepresentation(200, body, options);
}

/** 201 with the new resource's representation and its URL (RFC 9110 §15.3.2). */
export function replyCreated(location: string, body: object | string, options: ReplyOptions = {}): Reply {
  return replyRepresentation(201, body, { ...options, headers: { ...options.headers, Location: location } });
}

/** 200 with a representation that is a file. @param filename ASCII, without quotation marks (RFC 6266 §4.3) */
export function replyDocument(
  body: Uint8Array<ArrayBuffer>,
  mediaType: string,
  filename: string,
  options: ReplyOptions,
): Reply {
  const headers = { ...options.headers, 'Content-Disposition': `inline; filename="${filename}"` };
  return { cacheControl: revalidate, ...options, headers, status: 200, body, mediaType, tagged: true };
}

export function replyNoContent(): Reply {
  return { status: 204, body: null, mediaType: json, cacheControl: noStore, tagged: false };
}

/** A reply that is not the representation of a resource and must not be stored: tokens, secrets, errors. */
export function replySecret(
  status: number,
  body: object | string,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return {
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    mediaType: json,
    cacheControl: noStore,
    tagged: false,
    ...(headers === undefined ? {} : { headers }),
  };
}

function replyRepresentation(status: number, body: object | PageBody, options: ReplyOptions): Reply {
  return {
    cacheControl: revalidate,
    ...options,
    status,
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    mediaType: json,
    tagged: true,
  };
}
