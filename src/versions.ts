/** The published versions of the contract: the one place that lists them and their life cycles. */
import type { Config } from './config.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createEntryEndpoint } from './http/hal/entry.ts';
import type { Version } from './http/versions/lifecycle.ts';

export interface PublishedVersion extends Version {
  /** Below the version's prefix. */
  readonly endpoints: readonly Endpoint[];
}

/**
 * @returns the versions, oldest first; the last is the current one.
 * @param endpoints the endpoints of all resources, as their folders create them: those of the oldest version
 */
export type Versions = (config: Config, endpoints: readonly Endpoint[]) => readonly PublishedVersion[];

export const buildPublishedVersions: Versions = (config, endpoints) => [
  {
    name: 'v1',
    contract: '1.0.0',
    deprecatedSince: config.DEPRECATED_V1,
    sunsetAt: config.SUNSET_V1,
    successor: config.SUCCESSOR_V1,
    endpoints,
  },
];

/**
 * Gives each ending version that names no successor the next version as its successor.
 * @param base BASE_URL; without it the successor's address is relative, as a Link may be (RFC 8288 section 3.1)
 */
export function addSuccessors(
  versions: readonly PublishedVersion[],
  base: string | undefined,
): PublishedVersion[] {
  return versions.map((version, index) => {
    const next = versions[index + 1];
    const ends = version.deprecatedSince !== undefined || version.sunsetAt !== undefined;
    if (next === undefined || !ends || version.successor !== undefined) return version;
    return { ...version, successor: `${base ?? ''}/${next.name}` };
  });
}

/** Adds an entry point to each version, with links to its collections. */
export function addEntries(versions: readonly PublishedVersion[]): PublishedVersion[] {
  return versions.map(version => ({
    ...version,
    endpoints: [createEntryEndpoint(version), ...version.endpoints],
  }));
}
