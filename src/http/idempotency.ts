/**
 * Idempotency-Key on POST: the response to the first request is stored in the transaction that did its work, and
 * returned for every repetition. A crash leaves both or neither.
 */
import { hkdfSync } from 'node:crypto';
import { sql } from 'kysely';
import { type Clock, dayMs, maxClockSkewMs } from '../ports/clock.ts';
import type { Secrets } from '../secrets/index.ts';
import { createSeal } from '../secrets/seal.ts';
import { type Database, type Session, StorageError, type Transaction } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';
import { createSweep, longRowsAtOnce, runForSome } from '../storage/table-rows.ts';
import { HttpError } from './errors.ts';
import type { Reply } from './response/reply.ts';

interface IdempotentRequest {
  readonly caller: string;
  /** The role of staff: a user who has lost it must not get what was shown to it. Undefined for other callers. */
  readonly staffRole: string | undefined;
  readonly key: string;
  /** Method, path, query and body must be equal in a repetition. */
  readonly method: string;
  readonly path: string;
  /** The parsed query; undefined if the operation has none. */
  readonly query: unknown;
  readonly body: Uint8Array;
  readonly mediaType: string;
}

/** A reply and its media type. */
interface Outcome {
  readonly reply: Reply;
  /** That of the request, or of the first request with this key, whose response is returned unchanged. */
  readonly mediaType: string;
}

interface StoredReply extends Reply {
  /** Missing in replies stored by older releases. */
  readonly negotiated?: string;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

/** @throws HttpError 400 when the header is not 1 to 255 visible ASCII characters */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key');
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new HttpError('INVALID_IDEMPOTENCY_KEY');
  return key;
}

/** @param secrets keys derived from the first encrypt stored responses and hash requests; all are tried to read them */
export function createIdempotency(database: Database, clock: Clock, secrets: Secrets) {
  const { build } = database;
  const seal = createSeal(secrets, 'idempotency answers');
  const hashKeys = secrets.map(secret =>
    Buffer.from(hkdfSync('sha256', secret, '', 'idempotent requests', 32)),
  );
  const stored = prepareQuery<
    { caller: string; key: string },
    { request_hash: string; answer: string; created_at: number }
  >(build, argument =>
    build
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'answer', 'created_at'])
      .where('caller', '=', argument.caller)
      .where('key', '=', argument.key),
  );

  const removeOld = createSweep(
    database,
    { table: 'idempotency_keys', key: ['caller', 'key'], atOnce: longRowsAtOnce },
    'created_at',
  );

  const setSomeBack = prepareQuery<{ now: number; last: number }, unknown>(
    build,
    ({ now, last }) => sql`with ahead as materialized (
        select caller, key from idempotency_keys where created_at > ${last}
        limit ${sql.lit(longRowsAtOnce)} ${database.dialect.skipLocked})
      update idempotency_keys set created_at = ${now}
      where (caller, key) in (select caller, key from ahead)`,
  );

  function openStored(answer: string): string {
    const text = seal.open(answer);
    if (text !== undefined) return text;
    throw new HttpError('IDEMPOTENCY_KEY_REUSED', {
      message: 'The response stored for this Idempotency-Key can no longer be read; use a new key.',
    });
  }

  async function replay(
    session: Session,
    request: IdempotentRequest,
    hashes: readonly string[],
  ): Promise<Outcome | undefined> {
    const row = await session.first(stored({ caller: request.caller, key: request.key }));
    if (row === undefined) return undefined;
    if (row.created_at <= clock.now() - dayMs) {
      await session.run(
        build
          .deleteFrom('idempotency_keys')
          .where('caller', '=', request.caller)
          .where('key', '=', request.key)
          .compile(),
      );
      return undefined;
    }
    if (!hashes.includes(row.request_hash)) throw new HttpError('IDEMPOTENCY_KEY_REUSED');
    // Boundary: only `run` below stores responses, and the seal proves it.
    const { negotiated, ...reply } = JSON.parse(openStored(row.answer)) as StoredReply;
    return {
      reply: { ...reply, headers: { ...reply.headers, 'Idempotency-Replayed': 'true' } },
      mediaType: negotiated ?? request.mediaType,
    };
  }

  return {
    /**
     * @param confirm throws if the caller may not have the response any more, new or stored
     * @throws HttpError 409 while the first request runs, 422 if the key was used for a different request
     */
    async run(
      request: IdempotentRequest,
      confirm: (session: Transaction) => Promise<void>,
      work: (session: Transaction) => Promise<Reply>,
    ): Promise<Outcome> {
      // Responses to staff that older releases stored have hashes without the role.
      const roles = request.staffRole === undefined ? [''] : [`${request.staffRole} `, ''];
      const hashes = roles.flatMap(role => hashKeys.map(key => hashRequest(request, role, key)));
      try {
        return await database.write(
          async session => {
            await confirm(session);
            const known = await replay(session, request, hashes);
            if (known !== undefined) return known;
            const reply = await work(session);
            const { caller, key, mediaType } = request;
            const kept: StoredReply = { ...reply, negotiated: mediaType };
            const row = {
              caller,
              key,
              request_hash: hashes[0] ?? '',
              answer: seal.close(JSON.stringify(kept)),
              created_at: clock.now(),
            };
            await session.run(build.insertInto('idempotency_keys').values(row).compile());
            return { reply, mediaType };
          },
          { lock: `idempotency ${request.caller} ${request.key}` },
        );
      } catch (error) {
        if (!(error instanceof StorageError && error.kind === 'locked')) throw error;
        throw new HttpError('IDEMPOTENCY_KEY_IN_USE', { headers: { 'Retry-After': '1' } });
      }
    },
    /** Deletes some responses older than 24 hours and returns how many: see `removeInParts`. */
    sweep: () => database.write(session => removeOld(session, clock.now() - dayMs)),
    /**
     * Some responses that were stored before the clock was set back count as stored now: otherwise they would be replayed
     * until 24 hours after a moment to come. @returns their number: see `removeInParts`
     */
    setBack: () =>
      database.write(session => {
        const now = clock.now();
        return runForSome(() => session.run(setSomeBack({ now, last: now + maxClockSkewMs })));
      }),
  };
}

/** Keyed, since a body may hold a password: from a plain hash, a reader of the table could find it by guessing. */
function hashRequest(
  { method, path, query, body }: IdempotentRequest,
  /** What the request begins with: the role and a space, or nothing. */
  role: string,
  key: Buffer,
): string {
  const parameters = JSON.stringify(query ?? {});
  // Without parameters the hash is that of older releases, which ignored the query: their responses are still replayed.
  const address = parameters === '{}' ? path : `${path}?${parameters}`;
  return new Bun.CryptoHasher('sha256', key)
    .update(`${role}${method} ${address}\n`)
    .update(body)
    .digest('hex');
}
