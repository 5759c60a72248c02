/**
 * The queries of API keys. Only a key's hash is stored; 256 random bits need no slow hash. Creating and revoking a key
 * record events, which hold neither the key nor its hash.
 */
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import type { Caller } from '../../http/access.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { type Clock, isRecent } from '../../ports/clock.ts';
import { createRandomSecret, hashSecret } from '../../secrets/random.ts';
import { parseStored } from '../../storage/damage.ts';
import { type Database, ignoreStorageError, type Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { toIsoDate } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import type { ApiKey, NewApiKey } from './schema.ts';

export type StoredKey = Omit<Row<'api_keys'>, 'key_hash' | 'created_by'>;

const columns = [
  'name',
  'prefix',
  'scopes',
  'rate_limit',
  'created_at',
  'expires_at',
  'last_used_at',
] as const;
/** The minimum interval between writes of a key's last use, in milliseconds. */
const lastUseResolution = 60_000;

export function toApiKey(row: StoredKey): ApiKey {
  return {
    id: row.id,
    name: row.name,
    scopes: parseStored(row.scopes),
    rateLimit: row.rate_limit,
    prefix: row.prefix,
    expiresAt: toIsoDate(row.expires_at),
    lastUsedAt: toIsoDate(row.last_used_at),
    createdAt: toIsoDate(row.created_at),
  };
}

export function createKeyStore(database: Database, clock: Clock, outbox: Outbox) {
  const { build } = database;
  const rows = createTableRows<StoredKey>(database, 'api_keys', columns);
  const byHash = prepareQuery<{ hash: string }, StoredKey>(build, argument =>
    build
      .selectFrom('api_keys')
      .select(['id', ...columns])
      .where('key_hash', '=', argument.hash),
  );

  const changeOf = createChangeBuilder<StoredKey>('key', row => JSON.stringify(toApiKey(row)));

  /** The notes in progress, by key id. */
  const noting = new Map<number, Promise<void>>();

  /** Notes a use in the background, one note at a time for each key: requests that read do not wait for the writer. */
  function noteUse({ id, last_used_at }: StoredKey, now: number): void {
    if (noting.has(id) || (last_used_at !== null && isRecent(last_used_at, lastUseResolution, now))) return;
    const note = database
      .write(session => rows.update(session, id, { last_used_at: now }))
      // A key is valid without the note: a read-only database still serves reads. The next request notes its use.
      .catch(ignoreStorageError)
      .finally(() => noting.delete(id));
    noting.set(id, note);
  }

  return {
    list: createLister<StoredKey>(database, { table: 'api_keys', columns }),
    /** All keys, in order of id. */
    all: rows.all,
    find: rows.find,
    lock: rows.lock,
    /** @returns the stored key and the secret, which is not stored */
    async insert(session: Transaction, input: NewApiKey, createdBy: number | null, cause: Cause) {
      const key = `ck_${createRandomSecret()}`;
      const values = {
        name: input.name,
        prefix: key.slice(0, 9),
        scopes: JSON.stringify([...new Set(input.scopes)]),
        rate_limit: input.rateLimit ?? null,
        created_at: cause.at,
        expires_at: input.expiresAt == null ? null : Date.parse(input.expiresAt),
        last_used_at: null,
      };
      const hidden = { key_hash: hashSecret(key), created_by: createdBy };
      const insert = build.insertInto('api_keys').values({ ...values, ...hidden });
      const row = { id: await session.insert(insert.compile()), ...values };
      await outbox.record(session, changeOf('created', undefined, row), cause);
      return { row, key };
    },
    /** Revokes a locked key. */
    async remove(session: Transaction, before: StoredKey, cause: Cause): Promise<void> {
      await rows.remove(session, before.id);
      await outbox.record(session, changeOf('revoked', before, undefined), cause);
    },
    /** Notes the use of the key, to the minute, without waiting for it: see `noted`. */
    async authenticate(key: string): Promise<Caller | ErrorCode> {
      if (!/^ck_[\w-]{43}$/.test(key)) return 'UNAUTHORIZED';
      // The lookup is by hash, so the time of the comparison reveals nothing about the key.
      const row = await database.read.first(byHash({ hash: hashSecret(key) }));
      const now = clock.now();
      if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return 'UNAUTHORIZED';
      noteUse(row, now);
      return {
        kind: 'key',
        subject: `key:${row.id}`,
        keyId: row.id,
        scopes: new Set(parseStored<string[]>(row.scopes)),
        rateLimit: row.rate_limit ?? undefined,
      };
    },
    /** Resolves once every use so far has been noted, or failed to be. */
    async noted(): Promise<void> {
      await Promise.allSettled(noting.values());
    },
  };
}
