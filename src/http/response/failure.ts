/** What is thrown, as the reply that the caller gets. */
import { StorageError } from '../../storage/database.ts';
import { buildErrorDetail, type ErrorCode, HttpError } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import { json, type Negotiate, problemJson } from '../negotiate.ts';
import { formatErrorBody, formatPlainBody, formatProblemBody } from './error-body.ts';
import { noStore, type Reply } from './reply.ts';

/** Turns anything thrown into a reply. */
export function toFailureReply(exchange: Exchange, thrown: unknown, negotiate: Negotiate): Reply {
  if (hasGone(exchange, thrown)) return abandoned;
  const error = toHttpError(thrown);
  if (error.isFailure) exchange.failure = thrown;
  const plain = exchange.endpoint?.plainErrors === true && (error.status === 400 || error.status === 404);
  // Negotiated here: most requests do not fail, and some fail before they have got to their negotiation.
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

/** Stands in the log and in the numbers for a request whose client went away; it is never sent. As nginx has it. */
const clientClosedRequest = 499;
const abandoned: Reply = {
  status: clientClosedRequest,
  body: null,
  mediaType: json,
  cacheControl: noStore,
  tagged: false,
};

/** Whether the body could not be read to its end because the client has closed the connection. */
function hasGone({ request }: Exchange, thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError' && request.signal.aborted;
}

/** Failures of the database that are errors of their own, with the seconds after which to try again. */
const ofStorage: Readonly<Partial<Record<StorageError['kind'], readonly [ErrorCode, retryAfter?: string]>>> =
  {
    full: ['STORAGE_FULL'],
    damaged: ['DATABASE_DAMAGED'],
    unavailable: ['DATABASE_UNAVAILABLE', '2'],
    'read-only': ['DATABASE_READ_ONLY', '2'],
    moved: ['DATABASE_MOVED', '5'],
  };

/** What those learn whose request has waited for others: the database itself can be reached. */
const locked =
  'Something else holds a lock on what this request needs, and nothing was changed; retry after the time in Retry-After.';

/** Columns are written external_id, members externalId. */
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
