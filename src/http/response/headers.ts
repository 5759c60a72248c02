/** Headers that responses of one kind have in common. */
import { formatHttpDate } from '../cache/http-date.ts';
import type { Quota, QuotaState } from '../quota/index.ts';
import { buildLifecycleHeaders, type Version } from '../versions/lifecycle.ts';

/** What determines the headers of a response that others share. */
interface Kind {
  readonly cacheControl: string;
  /** Empty without a body. */
  readonly mediaType: string;
  readonly version: Version | undefined;
  /** The validators, which the caller sets: 1 for ETag, 2 for Last-Modified, 3 for both. */
  readonly validators: 0 | 1 | 2 | 3;
  /** Whole seconds since the epoch. */
  readonly now: number;
}

type HeadersByValidators = readonly [Headers, Headers, Headers, Headers];

/**
 * A response copies the headers of its kind, so the few that differ between responses are set in the shared object just
 * before. A new object for each response would cost twice as much.
 */
export function createCommonHeaders(quota: Quota) {
  const templates = new Map<Version | undefined, Map<string, Map<string, HeadersByValidators>>>();
  const createTypes = () => new Map<string, Map<string, HeadersByValidators>>();
  const createKinds = () => new Map<string, HeadersByValidators>();
  /** The seconds for which the templates hold: the end of the window, and the current one. */
  let templatesFor = { reset: 0, now: 0 };
  const formatPolicy = (limit: number) => `"default";q=${limit};w=${quota.window}`;
  const policy = formatPolicy(quota.limit);

  /** One template for each combination of validators. */
  function createTemplates({ cacheControl, mediaType, version, now }: Kind, reset: number) {
    const date = formatHttpDate(now * 1000);
    const createTemplate = () =>
      new Headers({
        'Cache-Control': cacheControl,
        // Bun's own is up to two seconds late, and so before a Last-Modified (RFC 9110 §8.8.2.1).
        Date: date,
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

  /** Looked up part by part: the parts are constants with cached hashes, and no key has to be built. */
  function getTemplate(kind: Kind, reset: number): Headers {
    const { cacheControl, mediaType, version, validators, now } = kind;
    if (reset !== templatesFor.reset || now !== templatesFor.now) {
      templates.clear();
      templatesFor = { reset, now };
    }
    return templates
      .getOrInsertComputed(version, createTypes)
      .getOrInsertComputed(mediaType, createKinds)
      .getOrInsertComputed(cacheControl, () => createTemplates(kind, reset))[validators];
  }

  return {
    /** Copy the result at once. */
    of(kind: Kind, { remaining, reset }: QuotaState): Headers {
      const headers = getTemplate(kind, reset);
      const seconds = Math.max(0, reset - kind.now);
      headers.set('X-RateLimit-Remaining', String(remaining));
      headers.set('RateLimit', `"default";r=${remaining};t=${seconds}`);
      return headers;
    },
    /** For the few callers with a limit of their own: the templates have the default one. */
    showLimit(headers: Headers, limit: number): void {
      headers.set('X-RateLimit-Limit', String(limit));
      headers.set('RateLimit-Policy', formatPolicy(limit));
    },
  };
}
