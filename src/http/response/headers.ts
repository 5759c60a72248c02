/** Headers that responses of one kind have in common. */
import { formatHttpDate } from '../cache/http-date.ts';
import { buildQuotaHeaders, type Quota, type QuotaState } from '../quota/index.ts';
import { buildLifecycleHeaders, type Version } from '../versions/lifecycle.ts';

/** What determines the headers of a response that others share. */
interface Kind {
  readonly cacheControl: string;
  /** Empty without a body. */
  readonly mediaType: string;
  readonly version: Version | undefined;
  /** Whole seconds since the epoch. */
  readonly now: number;
}

/**
 * A response copies the headers of its kind, so the few that differ between responses are set in the shared object just
 * before. A new object for each response would cost twice as much.
 */
export function createCommonHeaders({ limit, window }: Quota) {
  const templates = new Map<string, Headers>();
  /** The seconds for which the templates hold: the end of the window, and the current one. */
  let templatesFor = { reset: 0, now: 0 };

  const createTemplate = ({ cacheControl, mediaType, version, now }: Kind, state: QuotaState) =>
    new Headers({
      'Cache-Control': cacheControl,
      // Bun's own is up to two seconds late, and so before a Last-Modified (RFC 9110 §8.8.2.1).
      Date: formatHttpDate(now * 1000),
      Vary: 'Accept, Accept-Encoding, Origin, Prefer',
      'X-Content-Type-Options': 'nosniff',
      ...buildQuotaHeaders({ limit, window }, state, now * 1000),
      ...(mediaType === '' ? {} : { 'Content-Type': mediaType }),
      ...(version === undefined ? {} : buildLifecycleHeaders(version)),
    });

  return {
    /** Copy the result at once. It may have the validators of the response before. */
    of(kind: Kind, state: QuotaState): Headers {
      const { cacheControl, mediaType, version, now } = kind;
      const { remaining, reset } = state;
      if (reset !== templatesFor.reset || now !== templatesFor.now) {
        templates.clear();
        templatesFor = { reset, now };
      }
      const headers = templates.getOrInsertComputed(`${version?.name} ${mediaType} ${cacheControl}`, () =>
        createTemplate(kind, state),
      );
      const seconds = Math.max(0, reset - now);
      headers.set('X-RateLimit-Remaining', String(remaining));
      headers.set('RateLimit', `"default";r=${remaining};t=${seconds}`);
      return headers;
    },
  };
}
