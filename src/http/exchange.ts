/** One request on its way through the layers: what each of them has found out so far. */
import type { Caller } from './access.ts';
import type { Endpoint, RequestUrl } from './endpoint.ts';
import type { QuotaState } from './rate-limit.ts';
import type { Route } from './router.ts';

export class Exchange {
  readonly started = Bun.nanoseconds();
  readonly method: string;
  readonly origin: string | null;
  endpoint: Endpoint | undefined;
  caller: Caller | undefined;
  quota: QuotaState | undefined;
  /** The media type negotiated for a success. */
  mediaType = 'application/json';
  /** Whether errors are wanted as application/problem+json. */
  problem = false;
  /** What went wrong, for the log: only for errors that are not meant for the caller. */
  failure: unknown;

  constructor(
    readonly request: Request,
    readonly route: Route | undefined,
    readonly requestId: string,
    readonly url: RequestUrl,
    readonly address: () => string,
  ) {
    this.method = request.method;
    this.origin = request.headers.get('origin');
  }

  /** Milliseconds since the request came in. */
  elapsed(): number {
    return (Bun.nanoseconds() - this.started) / 1_000_000;
  }
}
