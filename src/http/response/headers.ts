/** The headers that responses of one kind have in common. */
import type { Quota, QuotaState } from '../quota/index.ts';
import { buildLifecycleHeaders, type Version } from '../versions/lifecycle.ts';

/** Which validators a response has: ETag 1, Last-Modified 2, both 3. */
type Validated = 0 | 1 | 2 | 3;
type HeadersByValidators = readonly [Headers, Headers, Headers, Headers];

/**
 * A response takes a copy of its kind's headers, so the few that differ from one response to the next are set in them just
 * before: an object of its own for each response costs twice as much.
 */
export function createCommonHeaders(quota: Quota) {
  const templates = new Map<Version | undefined, Map<string, Map<string, HeadersByValidators>>>();
  let windowReset = 0;
  const formatPolicy = (limit: number) => `"default";q=${limit};w=${quota.window}`;
  const policy = formatPolicy(quota.limit);
  /** How `RateLimit` ends while it is so many seconds to the end of the window. */
  let left = { seconds: -1, text: '' };

  /** One for each combination of validators. */
  function createTemplates(
    cacheControl: string,
    mediaType: string,
    version: Version | undefined,
    reset: number,
  ) {
    const createTemplate = () =>
      new Headers({
        'Cache-Control': cacheControl,
        Vary: 'Accept, Accept-Encoding, Origin, Prefer',
        'X-Content-Type-Options': 'nosniff',
        'X-RateLimit-Limit': String(quota.limit),
        'X-RateLimit-Window': String(quota.window),
        'X-RateLimit-Reset': String(reset),
        'RateLimit-Policy': policy,
        ...(mediaType === '' ? {} : { 'Content-Type': mediaType }),
        ...(version === undefined ? {} : buildLifecycleHeaders(version)),
      });
    return [createTemplate(), createTemplate(), createTemplate(), createTemplate()] as const;
  }

  /** Looked up by the parts: they are constants, whose hashes are known, and no key has to be built. */
  function getTemplate(cacheControl: string, mediaType: string, version: Version | undefined, reset: number) {
    if (reset !== windowReset) {
      templates.clear();
      windowReset = reset;
    }
    let ofVersion = templates.get(version);
    if (ofVersion === undefined) {
      ofVersion = new Map();
      templates.set(version, ofVersion);
    }
    let ofType = ofVersion.get(mediaType);
    if (ofType === undefined) {
      ofType = new Map();
      ofVersion.set(mediaType, ofType);
    }
    let kinds = ofType.get(cacheControl);
    if (kinds === undefined) {
      kinds = createTemplates(cacheControl, mediaType, version, reset);
      ofType.set(cacheControl, kinds);
    }
    return kinds;
  }

  return {
    /** To be copied at once. @param validators are set by the caller; @param now whole seconds since the epoch */
    of(
      cacheControl: string,
      mediaType: string,
      version: Version | undefined,
      { remaining, reset }: QuotaState,
      validators: Validated,
      now: number,
    ): Headers {
      const headers = getTemplate(cacheControl, mediaType, version, reset)[validators];
      const seconds = Math.max(0, reset - now);
      if (seconds !== left.seconds) left = { seconds, text: `;t=${seconds}` };
      headers.set('X-RateLimit-Remaining', String(remaining));
      headers.set('RateLimit', `"default";r=${remaining}${left.text}`);
      return headers;
    },
    /** For the few callers that have a limit of their own: the templates have the usual one. */
    showLimit(headers: Headers, limit: number): void {
      headers.set('X-RateLimit-Limit', String(limit));
      headers.set('RateLimit-Policy', formatPolicy(limit));
    },
  };
}
