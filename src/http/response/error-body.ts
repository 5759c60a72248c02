/** The bodies of errors, in each of the forms that a response may have. */
import { STATUS_CODES } from 'node:http';
import type { HttpError } from '../errors.ts';

/** The service's own members; as JSON without details where there are none. */
const getMembers = ({ code, message, details }: HttpError, requestId: string) => ({
  error: code,
  message,
  requestId,
  details,
});

/** The body of an error in the service's own shape: `{error, message, requestId, details?}`. */
export const formatErrorBody = (error: HttpError, requestId: string): string =>
  JSON.stringify(getMembers(error, requestId));

/** A 400 or 404 as some resources of the specification have it: one member, for people. */
export function formatPlainBody(error: HttpError): string {
  return JSON.stringify({ error: error.message });
}

/** Those whose name RFC 9110 has changed since Node's table was made. */
const newerPhrases: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The recommended phrase of a status (RFC 9110 §15), which is the title of `about:blank` (RFC 9457 §4.2.1). */
export function getStatusPhrase(status: number): string {
  return newerPhrases[status] ?? STATUS_CODES[status] ?? `Status ${status}`;
}

/** The same error as `application/problem+json` (RFC 9457 §3). */
export function formatProblemBody(error: HttpError, requestId: string): string {
  return JSON.stringify({
    type: 'about:blank',
    title: getStatusPhrase(error.status),
    status: error.status,
    detail: error.message,
    // The id may be any that the client has sent; a URI may not (RFC 3986 section 2).
    instance: `urn:request:${encodeURIComponent(requestId)}`,
    ...getMembers(error, requestId),
  });
}
