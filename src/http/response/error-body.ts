/** The bodies of errors, in each format that a response may have. */
import { STATUS_CODES } from 'node:http';
import type { HttpError } from '../errors.ts';

/** The service's own members. JSON.stringify leaves out undefined details. */
const getMembers = ({ code, message, details }: HttpError, requestId: string) => ({
  error: code,
  message,
  requestId,
  details,
});

/** The body of an error in the service's own format: `{error, message, requestId, details?}`. */
export const formatErrorBody = (error: HttpError, requestId: string): string =>
  JSON.stringify(getMembers(error, requestId));

/** A 400 or 404 as the specification requires for some resources: one member, for people. */
export function formatPlainBody(error: HttpError): string {
  return JSON.stringify({ error: error.message });
}

/** Phrases that RFC 9110 has changed since Node's table was made. */
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
    // The id may be any text from the client, which may not be valid in a URI (RFC 3986 section 2).
    instance: `urn:request:${encodeURIComponent(requestId)}`,
    ...getMembers(error, requestId),
  });
}
