/** One request on its way through the layers: the results of each layer so far, and the context of the handler. */
import type { Cause } from '../events/outbox.ts';
import type { Transaction } from '../storage/database.ts';
import type { Anonymous, Caller } from './access.ts';
import { computeEntityTag, evaluate, hasConditions } from './cache/conditional.ts';
import type { Endpoint, HandlerContext, RequestUrl } from './endpoint.ts';
import { json } from './negotiate.ts';
import { createRateLimitError, type Policy, type QuotaState } from './quota/index.ts';
import type { Unread } from './request/body.ts';
import type { Reply } from './response/reply.ts';
import type { Route } from './router.ts';

/** The part of the application that an exchange needs. */
export interface ServerContext {
  /** The address of the service for clients that send no host: `http://localhost:3000`. */
  readonly localBase: string;
  addressOf(request: Request): string;
  /** Whether the request was made on this machine. */
  isLocal(request: Request): boolean;
  /** Epoch milliseconds. */
  now(): number;
  /** Restarts the idle timeout of the request's connection. */
  keepOpen(request: Request): void;
  /** Runs the request's transaction. */
  write(
    exchange: Exchange,
    work: (session: Transaction) => Promise<Reply>,
    touches?: readonly string[],
  ): Promise<Reply>;
}

interface OwnQuota {
  readonly policy: Policy;
  readonly state: QuotaState;
}

/** The caller until one has been identified. */
const noCaller: Anonymous = { kind: 'anonymous', subject: 'unidentified', problem: undefined };
const noBytes = new Uint8Array();
/** Most responses take less than a millisecond: `0.000` to `0.999`. */
const shortTimes = Array.from({ length: 1000 }, (_, micros) => `0.${String(micros).padStart(3, '0')}`);

export class Exchange implements HandlerContext<unknown, unknown, unknown> {
  readonly method: string;
  readonly origin: string | null;
  endpoint: Endpoint | undefined = undefined;
  caller: Caller = noCaller;
  quota: QuotaState | undefined = undefined;
  /** A limit of the operation's own, shown instead of the caller's. */
  ownQuota: OwnQuota | undefined = undefined;
  /** The media type negotiated for a success. */
  mediaType = json;
  conditionsChecked = false;
  /** Whether unknown parameters and members are refused instead of ignored: see request/strict.ts. */
  strict = false;
  params: unknown = undefined;
  query: unknown = undefined;
  body: unknown = undefined;
  /** The body as it was sent, or the value that identifies an uploaded file. */
  bytes: Uint8Array = noBytes;
  /** The unread rest of a refused body. */
  unread: Unread | undefined = undefined;
  /** The failure to log: only for errors that are not meant for the caller. */
  failure: unknown = undefined;
  private readonly started = Bun.nanoseconds();
  private microseconds: number | undefined = undefined;

  constructor(
    readonly request: Request,
    readonly route: Route | undefined,
    readonly requestId: string,
    readonly url: RequestUrl,
    private readonly serverContext: ServerContext,
  ) {
    this.method = request.method;
    this.origin = request.headers.get('origin');
  }

  get address(): string {
    return this.serverContext.addressOf(this.request);
  }

  get isLocal(): boolean {
    return this.serverContext.isLocal(this.request);
  }

  /** Returns epoch milliseconds. */
  get now(): () => number {
    return this.serverContext.now;
  }

  get authorization(): string | null {
    return this.request.headers.get('authorization');
  }

  get header(): (name: string) => string | null {
    return name => this.request.headers.get(name);
  }

  // Getters of functions, not methods, so that a handler may destructure its argument; created only on use.
  get precondition(): HandlerContext<unknown, unknown, unknown>['precondition'] {
    return (bodyOf, lastModified) => {
      this.conditionsChecked = true;
      const { headers } = this.request;
      if (!hasConditions(headers)) return;
      const current = { etag: computeEntityTag(bodyOf()), lastModified };
      evaluate(headers, this.method, current, this.now);
    };
  }

  get charge(): HandlerContext<unknown, unknown, unknown>['charge'] {
    return async (quota, subject, message) => {
      const state = await quota.charge(subject);
      this.showQuota(quota, state);
      if (!state.allowed) throw createRateLimitError(message, state, this.now());
    };
  }

  get showQuota(): HandlerContext<unknown, unknown, unknown>['showQuota'] {
    return (policy, state) => {
      this.ownQuota = { policy, state };
    };
  }

  get cause(): () => Cause {
    return () => ({
      actor: this.caller.subject,
      requestId: this.requestId,
      at: this.now(),
    });
  }

  keepOpen(): void {
    this.serverContext.keepOpen(this.request);
  }

  get write(): HandlerContext<unknown, unknown, unknown>['write'] {
    return (work, touches) => this.serverContext.write(this, work, touches);
  }

  /** The subject of the quota: the caller, or the address until the caller is identified. */
  get subject(): string {
    return this.caller === noCaller ? `ip:${this.address}` : this.caller.subject;
  }

  /** Whole microseconds from the request's arrival to the first call of this method. */
  elapsed(): number {
    this.microseconds ??= Math.round((Bun.nanoseconds() - this.started) / 1000);
    return this.microseconds;
  }

  /** The elapsed time in milliseconds with three decimals, for Server-Timing and the log. */
  elapsedText(): string {
    const elapsed = this.elapsed();
    return shortTimes[elapsed] ?? (elapsed / 1000).toFixed(3);
  }
}
