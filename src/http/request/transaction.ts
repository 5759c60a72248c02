/**
 * The one transaction of a request; a repeated POST gets the stored response of the first one. The caller of a
 * protected operation is confirmed in the transaction before anything is written or replayed: 401.
 */
import type { Database, Transaction } from '../../storage/database.ts';
import { type Authenticator, staff } from '../access.ts';
import { refuseConditions } from '../cache/conditional.ts';
import { honoursIdempotency } from '../endpoint.ts';
import type { Exchange, ServerContext } from '../exchange.ts';
import { type Idempotency, readIdempotencyKey } from '../idempotency.ts';
import type { Reply } from '../response/reply.ts';

type Work = (session: Transaction) => Promise<Reply>;

interface WriteOptions {
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly idempotency: Idempotency;
  /** Called with each transaction after it commits. */
  readonly committed: (session: Transaction) => void;
}

/** Interval at which the connection of a long transaction is kept open: well below the server's idle timeout. */
const keptOpenMs = 10_000;

export function createRequestWrite(options: WriteOptions): ServerContext['write'] {
  const { database, authenticator, idempotency, committed } = options;

  async function write(exchange: Exchange, work: Work, touches?: readonly string[]): Promise<Reply> {
    let used: Transaction | undefined;
    const runChecked: Work = async session => {
      used = session;
      const done = await work(session);
      // After the work, so that its own errors come first; its writes are rolled back (RFC 9110 §13.2.1).
      if (!exchange.conditionsChecked) {
        const exists = exchange.route?.operations.has('GET') === true;
        refuseConditions(exchange.request.headers, exists, exchange.now);
      }
      return done;
    };
    // The client sends nothing during the work: the server would treat the connection as stalled.
    const timer = setInterval(() => exchange.keepOpen(), keptOpenMs);
    let reply: Reply;
    try {
      reply = await runTransaction(exchange, runChecked, touches);
    } finally {
      clearInterval(timer);
    }
    if (used !== undefined) committed(used);
    return reply;
  }

  async function runTransaction(exchange: Exchange, work: Work, touches?: readonly string[]): Promise<Reply> {
    const { endpoint, request, method, url, query, bytes, caller, mediaType } = exchange;
    const confirmCaller = async (session: Transaction): Promise<void> => {
      if (endpoint?.access.kind !== 'public') await authenticator.confirm(session, caller);
    };
    const honoured = endpoint !== undefined && honoursIdempotency(endpoint);
    const key = honoured ? readIdempotencyKey(request.headers) : undefined;
    if (key === undefined) {
      const runConfirmed: Work = session => confirmCaller(session).then(() => work(session));
      return database.write(runConfirmed, { touches });
    }
    const staffRole = caller.kind === 'user' && staff.includes(caller.role) ? caller.role : undefined;
    const repeatable = {
      caller: caller.subject,
      staffRole,
      key,
      method,
      path: url.path,
      query,
      body: bytes,
      mediaType,
    };
    const outcome = await idempotency.run(repeatable, confirmCaller, work);
    exchange.mediaType = outcome.mediaType;
    return outcome.reply;
  }

  return write;
}
