/**
 * Every error the service answers: one table, one class, one renderer.
 * The code is part of the contract and never changes; the message is for people and may.
 */

import { STATUS_CODES } from 'node:http';
import { withoutCredentials } from './credentials.ts';

interface ErrorKind {
  readonly status: number;
  readonly message: string;
}

export const errorTable = {
  INVALID_HOST: {
    status: 400,
    message: 'The Host header does not name a host (RFC 9112 section 3.2); send the address you call.',
  },
  VALIDATION_FAILED: { status: 400, message: 'The request is not valid; details names each problem.' },
  MALFORMED_JSON: { status: 400, message: 'The body is not well-formed JSON.' },
  MALFORMED_PATCH: { status: 400, message: 'The body is not a valid JSON Patch document (RFC 6902).' },
  INVALID_CURSOR: {
    status: 400,
    message: 'The cursor is not one this service issued for this list with this filter and sort.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  },
  INVALID_SIGNATURE: {
    status: 400,
    message:
      'The signature is missing, too old, or not one of this body made with the secret both sides share.',
  },
  INVALID_TOKEN: {
    status: 400,
    message: 'The token is wrong, was used before, or has expired; ask for a new mail.',
  },
  UNAUTHORIZED: {
    status: 401,
    message:
      'Credentials are missing or not valid. Send "Authorization: Bearer <accessToken>" or "X-API-Key: <key>".',
  },
  TOKEN_EXPIRED: {
    status: 401,
    message: 'The token has expired. Post the refresh token to /v1/auth/refresh.',
  },
  INVALID_CREDENTIALS: { status: 401, message: 'E-mail or password is wrong.' },
  PAYMENT_DECLINED: {
    status: 402,
    message: 'The payment provider declines the payment; nothing was charged. Pay in another way.',
  },
  FORBIDDEN: { status: 403, message: 'These credentials do not permit this operation.' },
  WRONG_PASSWORD: { status: 403, message: 'The current password is wrong; nothing was changed.' },
  NOT_FOUND: { status: 404, message: 'There is nothing at this address.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This address does not take this method; Allow lists those it takes.',
  },
  NOT_ACCEPTABLE: { status: 406, message: 'None of the media types in Accept can be served here.' },
  DUPLICATE: { status: 409, message: 'Another resource already has this value.' },
  ORDER_ALREADY_PAID: { status: 409, message: 'The order has been paid; it can no longer be changed.' },
  ORDER_ALREADY_CANCELLED: {
    status: 409,
    message: 'The order has been cancelled; place a new one instead.',
  },
  LAST_ADMINISTRATOR: {
    status: 409,
    message: 'This is the last administrator and stays one; make somebody else one first.',
  },
  OUT_OF_STOCK: {
    status: 409,
    message: 'There is not enough in stock; details names each line. Nothing was ordered.',
  },
  PATCH_TEST_FAILED: {
    status: 409,
    message: 'A test operation of the patch did not match; nothing was changed.',
  },
  PATCH_PATH_NOT_FOUND: { status: 409, message: 'A path of the patch does not exist; nothing was changed.' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running; retry later.',
  },
  OPTION_IN_USE: {
    status: 409,
    message: 'Variants have this option or value; change or delete them first.',
  },
  LIMIT_REACHED: { status: 409, message: 'There are as many of these as one user may have.' },
  CATEGORY_NOT_EMPTY: {
    status: 409,
    message: 'The category has products or other categories below it; move them first. Nothing was deleted.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    message: 'The resource has changed since the version the precondition names; read it again.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than this service accepts.' },
  IMAGE_TOO_LARGE: { status: 413, message: 'The image has more pixels than this service accepts.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'This operation does not take a body of this media type.' },
  UNSUPPORTED_IMAGE: { status: 415, message: 'The file is none of the images that this service takes.' },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The range begins after the end of what there is.' },
  PATCH_RESULT_INVALID: {
    status: 422,
    message: 'The patched resource would not be valid; nothing was changed.',
  },
  INVALID_IMAGE: { status: 422, message: 'The file is a broken image, or not what it claims to be.' },
  PRODUCT_UNAVAILABLE: {
    status: 422,
    message:
      'Some products or variants do not exist or cannot be ordered; details names each line. Nothing was ordered.',
  },
  MIXED_CURRENCIES: {
    status: 422,
    message: 'The products have different currencies; order those of each currency separately.',
  },
  ORDER_TOO_LARGE: {
    status: 422,
    message: 'The total is larger than can be counted exactly; order fewer.',
  },
  ADJUSTMENT_REFUSED: {
    status: 422,
    message: 'Some lines cannot be applied; details names each. Nothing was changed.',
  },
  PAYMENT_NOT_POSSIBLE: {
    status: 422,
    message: 'The payment provider does not take this amount in this currency; nothing was charged.',
  },
  PAYMENT_MISMATCH: {
    status: 422,
    message: 'What was paid is not what the order costs; the order was not changed.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: 'This Idempotency-Key was used before with a different request.',
  },
  RATE_LIMITED: { status: 429, message: 'The request quota is used up; Retry-After says when to come back.' },
  INTERNAL_ERROR: { status: 500, message: 'The service failed; requestId finds the reason in its log.' },
  DATABASE_DAMAGED: {
    status: 500,
    message: 'What is stored here is damaged and cannot be read; other data may be whole.',
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    message: 'The database cannot be reached; retry after the time in Retry-After.',
  },
  DATABASE_READ_ONLY: {
    status: 503,
    message: 'The database takes no writes: it is a standby, or set to read only; retry after Retry-After.',
  },
  DATABASE_MOVED: {
    status: 503,
    message: 'The file of the database was removed or replaced while the service runs: nothing is written.',
  },
  WEATHER_UNAVAILABLE: {
    status: 503,
    message: 'The weather provider cannot be reached, and nothing is known of this city yet; retry later.',
  },
  PAYMENT_UNAVAILABLE: {
    status: 503,
    message:
      'The payment provider cannot be reached; nothing was charged. Retry after the time in Retry-After.',
  },
  MEDIA_UNAVAILABLE: {
    status: 503,
    message: 'The store of the images cannot be reached; retry after the time in Retry-After.',
  },
  SERVICE_BUSY: {
    status: 503,
    message: 'The service has too much of this kind of work; retry after the time in Retry-After.',
  },
  STORAGE_FULL: { status: 507, message: 'The database cannot store more; the write was not made.' },
  SHUTTING_DOWN: { status: 503, message: 'The service is stopping; retry on another instance.' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorTable;

/** One problem with one field. `pointer` is a JSON Pointer (RFC 6901) into the body, or the parameter's name after `#/`. */
export interface ErrorDetail {
  readonly field: string;
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

export interface ErrorOptions {
  readonly message?: string;
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Characters of a message, at most: it may quote what was sent, which may be long. */
const longestMessage = 1000;

/** What is shown of a text that may quote what was sent. */
const quotable = (text: string): string => {
  const shown = withoutCredentials(text);
  return shown.length <= longestMessage ? shown : `${shown.slice(0, longestMessage - 1)}…`;
};

/** An error meant for the caller. Anything else that is thrown becomes INTERNAL_ERROR and shows nothing. */
export class HttpError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(quotable(options.message ?? errorTable[code].message), { cause: options.cause });
    this.name = 'HttpError';
    this.code = code;
    this.status = errorTable[code].status;
    this.details = options.details?.map(detail => ({
      field: quotable(detail.field),
      pointer: quotable(detail.pointer),
      code: detail.code,
      message: quotable(detail.message),
    }));
    this.headers = options.headers ?? {};
  }
}

/**
 * A 400 that names one field; `rule` is a stable word such as `minimum` or `required`.
 * @param path the field, or the names on the way to it
 */
export function invalid(
  path: string | readonly (string | number)[],
  rule: string,
  message: string,
): HttpError {
  const names = typeof path === 'string' ? [path] : path.map(String);
  const field = names.join('.');
  const pointer = names.map(name => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return new HttpError('VALIDATION_FAILED', {
    message: `${field}: ${message}`,
    details: [{ field, pointer: `#${pointer}`, code: rule, message }],
  });
}

/** The body of an error in the service's own shape: `{error, message, requestId, details?}`. */
export function errorBody(error: HttpError, requestId: string): string {
  return JSON.stringify({
    error: error.code,
    message: error.message,
    requestId,
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}

/** A 400 or 404 as some resources of the specification have it: one member, for people. */
export function plainBody(error: HttpError): string {
  return JSON.stringify({ error: error.message });
}

/** Those whose name RFC 9110 has changed since Node's table was made. */
const newerPhrases: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The recommended phrase of a status (RFC 9110 §15), which is the title of `about:blank` (RFC 9457 §4.2.1). */
export function statusPhrase(status: number): string {
  return newerPhrases[status] ?? STATUS_CODES[status] ?? `Status ${status}`;
}

/** The same error as `application/problem+json` (RFC 9457 §3). */
export function problemBody(error: HttpError, requestId: string): string {
  return JSON.stringify({
    type: 'about:blank',
    title: statusPhrase(error.status),
    status: error.status,
    detail: error.message,
    // The id may be any that the client has sent; a URI may not (RFC 3986 section 2).
    instance: `urn:request:${encodeURIComponent(requestId)}`,
    error: error.code,
    message: error.message,
    requestId,
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}

/** @param id 0 where the path had none that could be of a resource */
export function notFound(name: string, id: number): HttpError {
  return new HttpError('NOT_FOUND', { message: `There is no ${name} ${id || 'with this id'}.` });
}

/** @returns the row that was looked for. @throws HttpError 404 where there is none */
export function found<Row>(name: string, id: number, row: Row | undefined): Row {
  if (row === undefined) throw notFound(name, id);
  return row;
}
