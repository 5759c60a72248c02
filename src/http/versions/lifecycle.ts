/** The life cycle of the contract's versions: current, deprecated and ended. */
import { formatHttpDate } from '../cache/http-date.ts';

export interface Version {
  /** The path segment: `v1`. */
  readonly name: string;
  /** The number of the contract, as in its document: `1.0.0`. The program's release is numbered separately. */
  readonly contract: string;
  /** Epoch milliseconds. */
  readonly deprecatedSince?: number | undefined;
  readonly sunsetAt?: number | undefined;
  /** The address of the next version. */
  readonly successor?: string | undefined;
}

/** Headers for every response of a version (RFC 8594, RFC 8288); none while it is current. */
export function buildLifecycleHeaders(version: Version): Record<string, string> {
  const headers: Record<string, string> = {};
  if (version.deprecatedSince !== undefined) headers.Deprecation = formatHttpDate(version.deprecatedSince);
  if (version.sunsetAt !== undefined) headers.Sunset = formatHttpDate(version.sunsetAt);
  if (version.successor !== undefined) headers.Link = `<${version.successor}>; rel="successor-version"`;
  return headers;
}
