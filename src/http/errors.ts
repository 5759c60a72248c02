/**
 * Every error of the service: one table, one class, one format for problems with a field. The code is part of the
 * contract and never changes; the message is for people and may change.
 */

import { hideCredentials } from './credentials.ts';

/** By status: the message of each code, unless the cause of the error has a more specific one. */
const messages = {
  400: {
    INVALID_HOST: 'The Host header does not name a host (RFC 9112 section 3.2); send the address you call.',
    VALIDATION_FAILED: 'The request is not valid; details lists the problems.',
    MALFORMED_JSON: 'The body is not well-formed JSON.',
    MALFORMED_PATCH: 'The body is not a valid JSON Patch document (RFC 6902).',
    INVALID_CURSOR:
      'The cursor was not issued for this list with this filter and sort; leave it out to read the first page.',
    INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
    INVALID_SIGNATURE:
      'The signature is missing, too old, or does not match this body and the shared secret.',
    INVALID_TOKEN:
      'The token is wrong, used, or expired. Request a password reset, whose link also confirms the address, or the change of the address again.',
  },
  401: {
    UNAUTHORIZED:
      'Credentials are missing or not valid. Send "Authorization: Bearer <accessToken>" or "X-API-Key: <key>".',
    TOKEN_EXPIRED: 'The token has expired. Post the refresh token to /v1/auth/refresh.',
    INVALID_CREDENTIALS: 'The e-mail address or password is wrong.',
  },
  402: {
    PAYMENT_DECLINED:
      'The payment provider declined the payment; nothing was charged. Use another payment method.',
  },
  403: {
    FORBIDDEN: 'These credentials do not permit this operation.',
    WRONG_PASSWORD: 'The current password is wrong; nothing was changed.',
  },
  404: {
    NOT_FOUND: 'There is nothing at this address.',
  },
  405: {
    METHOD_NOT_ALLOWED: 'This address does not support this method; Allow lists the methods it supports.',
  },
  406: {
    NOT_ACCEPTABLE: 'None of the media types in Accept can be served here.',
  },
  409: {
    DUPLICATE: 'Another resource already has this value.',
    ORDER_ALREADY_PAID: 'The order has been paid; it can no longer be changed.',
    ORDER_ALREADY_CANCELLED: 'The order has been cancelled; place a new one instead.',
    LAST_ADMINISTRATOR: 'The last administrator cannot be demoted or deleted; promote another user first.',
    OUT_OF_STOCK: 'Not enough is in stock; details lists the lines. Nothing was ordered.',
    PATCH_TEST_FAILED: 'A test operation of the patch did not match; nothing was changed.',
    PATCH_PATH_NOT_FOUND: 'A path of the patch does not exist; nothing was changed.',
    IDEMPOTENCY_KEY_IN_USE: 'A request with this Idempotency-Key is still running; retry later.',
    OPTION_IN_USE: 'Variants have this option or value; change or delete them first.',
    LIMIT_REACHED: 'The maximum number of these resources has been reached.',
    CATEGORY_NOT_EMPTY:
      'The category has products or other categories below it; move them first. Nothing was deleted.',
  },
  412: {
    PRECONDITION_FAILED:
      'The resource has changed since the version that the precondition names; read it again.',
  },
  413: {
    PAYLOAD_TOO_LARGE: 'The body is larger than this service accepts.',
    IMAGE_TOO_LARGE: 'The image has more pixels than this service accepts.',
  },
  415: {
    UNSUPPORTED_MEDIA_TYPE: 'This operation does not accept a body of this media type.',
    UNSUPPORTED_IMAGE: 'The file is not an image in a supported format.',
  },
  416: {
    RANGE_NOT_SATISFIABLE: 'The range begins after the end of the file.',
  },
  417: {
    EXPECTATION_FAILED:
      'No body came. A client that waits for 100 (Continue) must send "Expect: 100-continue" in lower case, or no Expect.',
  },
  422: {
    PATCH_RESULT_INVALID:
      'The result of the JSON Patch breaks a rule or changes a read-only member; details points into the result. Nothing was changed.',
    INVALID_IMAGE: 'The file is a damaged image, or not of the format it claims.',
    PRODUCT_UNAVAILABLE:
      'Some products or variants do not exist or cannot be ordered; details lists the lines. Nothing was ordered.',
    MIXED_CURRENCIES: 'The products have different currencies; order those of each currency separately.',
    ORDER_TOO_LARGE: 'The total is too large to be represented exactly; order fewer items.',
    ADJUSTMENT_REFUSED: 'Some lines cannot be applied; details lists them. Nothing was changed.',
    PAYMENT_NOT_POSSIBLE:
      'The payment provider does not accept this amount in this currency; nothing was charged.',
    PAYMENT_MISMATCH: 'The amount paid is not the total of the order; the order was not changed.',
    IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key was used before with a different request.',
  },
  429: {
    RATE_LIMITED: 'The request quota is used up; retry after the time in Retry-After.',
  },
  500: {
    INTERNAL_ERROR: 'The service failed; its log has the reason under requestId.',
    DATABASE_DAMAGED: 'The stored data is damaged and cannot be read; other data may be intact.',
  },
  503: {
    DATABASE_UNAVAILABLE:
      'The database cannot be reached, or did not respond in time; retry after the time in Retry-After.',
    DATABASE_READ_ONLY:
      'The database accepts no writes: it is a standby or read-only; retry after the time in Retry-After.',
    DATABASE_MOVED:
      'The database file was removed or replaced while the service was running; writes are refused.',
    WEATHER_UNAVAILABLE:
      'The weather provider cannot be reached, and no observation of this city is cached; retry later.',
    PAYMENT_UNAVAILABLE:
      'The payment provider cannot be reached; nothing was charged. Retry after the time in Retry-After.',
    MEDIA_UNAVAILABLE: 'The image store cannot be reached; retry after the time in Retry-After.',
    SERVICE_BUSY: 'The service is overloaded with this kind of work; retry after the time in Retry-After.',
    SHUTTING_DOWN: 'The service is stopping; retry on another instance.',
  },
  507: {
    STORAGE_FULL: 'The database is full; nothing was written.',
  },
} as const;

type CodeOf<Group> = Group extends unknown ? keyof Group & string : never;
export type ErrorCode = CodeOf<(typeof messages)[keyof typeof messages]>;

interface ErrorKind {
  readonly status: number;
  readonly message: string;
}

const kinds = Object.entries(messages).flatMap(([status, group]) =>
  Object.entries(group).map(([code, message]) => [code, { status: Number(status), message }] as const),
);
// Boundary: Object.fromEntries has string keys in its type; the entries are exactly the codes.
export const errorTable = Object.fromEntries(kinds) as Readonly<Record<ErrorCode, ErrorKind>>;

/**
 * One problem with one field; built by `buildErrorDetail`. `pointer` is a JSON Pointer into the body as a URI fragment
 * (RFC 6901 §6), or the parameter's name after `#/`.
 */
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
  /** The 5xx status is expected: the log reports no failure. */
  readonly expected?: true;
}

/** Maximum length of a message, which may quote client input of any length. */
const maxMessageLength = 1000;

/** The shown form of a text that may quote client input. */
const toShownMessage = (text: string): string => {
  const shown = hideCredentials(text);
  return shown.length <= maxMessageLength ? shown : `${shown.slice(0, maxMessageLength - 1)}…`;
};

/** An error meant for the caller. Anything else that is thrown becomes INTERNAL_ERROR, without details. */
export class HttpError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFailure: boolean;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(toShownMessage(options.message ?? errorTable[code].message), { cause: options.cause });
    this.name = 'HttpError';
    this.code = code;
    this.status = errorTable[code].status;
    this.details = options.details?.map(detail => ({
      field: toShownMessage(detail.field),
      pointer: hideCredentials(detail.pointer),
      code: detail.code,
      message: toShownMessage(detail.message),
    }));
    this.headers = options.headers ?? {};
    this.isFailure = this.status >= 500 && options.expected !== true;
  }
}

/** A 400 with all problems; its message names the first, for readers who ignore the details. */
export const createValidationError = (details: readonly ErrorDetail[]): HttpError =>
  new HttpError('VALIDATION_FAILED', { message: formatMessage(details), details });

/**
 * A 400 about one field; `rule` is a stable word such as `minimum` or `required`.
 * @param path the field, or the names on the path to it; empty for the whole body
 */
export const createFieldError = (
  path: string | readonly (string | number)[],
  rule: string,
  message: string,
): HttpError =>
  createValidationError([buildErrorDetail(typeof path === 'string' ? [path] : path, rule, message)]);

/** One problem. @param path the names on the path to the field; empty for the whole body */
export function buildErrorDetail(
  path: readonly (string | number)[],
  code: string,
  message: string,
): ErrorDetail {
  const names = path.map(name => hideCredentials(String(name)));
  return { field: names.join('.') || 'body', pointer: toPointer(names), code, message };
}

/** The same problem in a value that is the member `name` of the body. */
export function moveDetail(detail: ErrorDetail, name: string): ErrorDetail {
  const field = detail.pointer === '#' ? name : `${name}.${detail.field}`;
  return { ...detail, field, pointer: `${toPointer([name])}${detail.pointer.slice(1)}` };
}

/**
 * The JSON Pointer of a path as a URI fragment (RFC 6901 §6), percent-encoded where a fragment requires it (RFC 3986
 * §3.5). A pointer that would be too long ends early, at a container of the field.
 */
function toPointer(path: readonly string[]): string {
  let pointer = '#';
  for (const name of path) {
    // Checked before encoding: a name may be as long as a body.
    if (pointer.length + name.length > maxMessageLength) return pointer;
    // An unpaired surrogate cannot be encoded.
    const token = name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
    // A fragment may contain every character that encodeURI leaves unencoded, except `#`.
    const longer = `${pointer}/${encodeURI(token).replaceAll('#', '%23')}`;
    if (longer.length > maxMessageLength) return pointer;
    pointer = longer;
  }
  return pointer;
}

/** Names the first problem, for readers who ignore the details, and the number of further ones. */
export function formatMessage(details: readonly ErrorDetail[]): string {
  const [first, ...others] = details;
  if (first === undefined) return 'The request is not valid.';
  const rest = others.length > 0 ? ` (and ${others.length} more, see details)` : '';
  return `${first.field}: ${first.message}${rest}`;
}

/** @param id 0 if the path had no possible id */
export function createNotFoundError(name: string, id: number): HttpError {
  return new HttpError('NOT_FOUND', { message: `There is no ${name} ${id || 'with this id'}.` });
}

/** @returns the row. @throws HttpError 404 if it is undefined */
export function requireFound<Row>(name: string, id: number, row: Row | undefined): Row {
  if (row === undefined) throw createNotFoundError(name, id);
  return row;
}
