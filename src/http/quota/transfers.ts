/**
 * Limits how many bytes of long bodies may be unfinished at the same time, for one caller and for all together. Clients
 * that do not read long responses, or do not complete long requests, would otherwise fill the memory of the service.
 */
import { HttpError } from '../errors.ts';

interface TransferLimits {
  /** The most bytes of one caller, unless it is a single body. */
  readonly maxOfCaller: number;
  /** The same for all callers together; the last quarter is for callers without an unfinished body. */
  readonly max: number;
  /** Ends a message that begins with an amount, for the caller's own limit and for that of all. */
  readonly messages: { readonly caller: string; readonly all: string };
  /** Of the error, beside Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Seconds after which clients that read and write have finished. */
const retryAfter = '2';

export function createTransfers({ maxOfCaller, max, messages, headers }: TransferLimits) {
  const ofCallers = new Map<string, number>();
  let total = 0;

  const createError = (code: 'RATE_LIMITED' | 'SERVICE_BUSY', bytes: number, message: string) =>
    new HttpError(code, {
      message: `${Math.round(bytes / 1024 / 1024)} MiB ${message}`,
      headers: { ...headers, 'Retry-After': retryAfter },
    });

  return {
    /** Counts bytes of a caller; negative ones when they are finished. */
    add(subject: string, bytes: number): void {
      const unfinished = (ofCallers.get(subject) ?? 0) + bytes;
      if (unfinished === 0) ofCallers.delete(subject);
      else ofCallers.set(subject, unfinished);
      total += bytes;
    },
    /** @throws HttpError 429, 503 when these bytes would be too many */
    requireRoom(subject: string, bytes: number): void {
      const unfinished = ofCallers.get(subject) ?? 0;
      if (unfinished > 0 && unfinished + bytes > maxOfCaller)
        throw createError('RATE_LIMITED', unfinished, messages.caller);
      const share = unfinished === 0 ? 1 : 0.75;
      if (total > 0 && total + bytes > max * share) throw createError('SERVICE_BUSY', total, messages.all);
    },
  };
}
