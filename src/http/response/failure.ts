/** Converts thrown values to replies. */
import { StorageError } from '../../storage/database.ts';
import { buildErrorDetail, type ErrorCode, HttpError } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import { json, type Negotiate, problemJson } from '../negotiate.ts';
import { formatErrorBody, formatPlainBody, formatProblemBody } from './error-body.ts';
import { noStore, type Reply } from './reply.ts';

export function toFailureReply(exchange: Exchange, thrown: unknown, negotiate: Negotiate): Reply {
  if (hasGone(exchange, thrown)) return abandoned;
  const error = toHttpError(thrown);
  if (error.isFailure) exchange.failure = thrown;
  const plain = exchange.endpoint?.plainErrors === true && (error.status === 400 || error.status === 404);
  // Negotiated here: most requests do not fail, and some fail before their own negotiation.
  const isProblem = negotiate.wantsProblem(exchange.request.headers.get('accept'));
  const text = isProblem ? formatProblemBody : plain ? formatPlainBody : formatErrorBody;
  return {
    status: error.status,
    body: text(error, exchange.requestId),
    mediaType: isProblem ? problemJson : json,
    cacheControl: noStore,
    headers: error.headers,
    tagged: false,
  };
}

/** The status in the log and the metrics, as in nginx, of a request whose client disconnected; it is never sent. */
const clientClosedRequest = 499;
const abandoned: Reply = {
  status: clientClosedRequest,
  body: null,
  mediaType: json,
  cacheControl: noStore,
  tagged: false,
};

/** Whether reading the body failed because the client closed the connection. */
function hasGone({ request }: Exchange, thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError' && request.signal.aborted;
}

/** Database failures with error codes of their own, and the seconds after which to retry. */
const ofStorage: Readonly<Partial<Record<StorageError['kind'], readonly [ErrorCode, retryAfter?: string]>>> =
  {
    full: ['STORAGE_FULL'],
    damaged: ['DATABASE_DAMAGED'],
    unavailable: ['DATABASE_UNAVAILABLE', '2'],
    refused: ['DATABASE_UNAVAILABLE', '2'],
    'read-only': ['DATABASE_READ_ONLY', '2'],
    moved: ['DATABASE_MOVED', '5'],
  };

/** The message when a request waited too long for a lock: the database itself is reachable. */
const locked =
  'Another transaction holds a lock that this request needs; nothing was changed. Retry after the time in Retry-After.';

/** Converts the name of a column to that of a member: external_id → externalId. */
export function toMemberName(column: string): string {
  return column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (!(thrown instanceof StorageError)) return new HttpError('INTERNAL_ERROR', { cause: thrown });
  if (thrown.kind === 'unique') {
    const field = toMemberName(thrown.column ?? 'value');
    return new HttpError('DUPLICATE', {
      message: `${field}: another resource already has this value`,
      details: [buildErrorDetail([field], 'unique', 'must be unique')],
      cause: thrown,
    });
  }
  const [code, retryAfter] = ofStorage[thrown.kind] ?? ['INTERNAL_ERROR'];
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
  const message = thrown.isLocked ? { message: locked } : {};
  return new HttpError(code, { ...message, headers, cause: thrown });
}
