/** `catalog keys`: API keys for other programs, for an operator at the machine. */
import { z } from 'zod';
import { causedBy, outboxOf } from '../events/outbox.ts';
import { systemClock } from '../ports/clock.ts';
import { createKey, type NewApiKey, scopes } from '../resources/keys/schema.ts';
import { apiKeyOf, keyStore } from '../resources/keys/store.ts';
import type { Database } from '../storage/database.ts';
import { withDatabase } from './database.ts';
import { printLines, printSecret } from './terminal/output.ts';
import { printable } from './terminal/printable.ts';
import { dateOf, table } from './terminal/table.ts';
import {
  type Command,
  checked,
  countOption,
  onePositional,
  parse,
  required,
  runAction,
  UsageError,
} from './usage.ts';

export const command: Command = {
  help: `Usage: catalog keys create --name NAME --scopes SCOPE,SCOPE [--expires DATE] [--rate N]
       catalog keys list
       catalog keys revoke ID

  create  makes a key and shows it this once: only its hash is kept
  list    shows all keys, without their secrets
  revoke  removes a key; requests with it get 401 from then on

  --name NAME     what the key is for
  --scopes LIST   what it may do, with commas between:
                  ${chunked(scopes, 4).join(',\n                  ')}
  --expires DATE  when it ends: 2027-01-31 (the beginning of that day, UTC) or 2027-01-31T12:00:00Z; never without it
  --rate N        requests per window of the quota that the key may send; without it as many as RATE_LIMIT

A program sends the key as X-API-Key.

Exit status: 0 done; 1 it failed, and nothing was changed, or a new key could not be shown;
2 the command line is wrong.`,

  run: args => runAction({ create, list, revoke }, args),
};

const expiry = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'is a date such as 2027-01-31 or a moment such as 2027-01-31T12:00:00Z',
});

async function create(args: string[]): Promise<number> {
  const { values } = parse(args, {
    name: { type: 'string' },
    scopes: { type: 'string' },
    expires: { type: 'string' },
    rate: { type: 'string' },
  });
  const { shape } = createKey;
  const input = {
    name: checked(shape.name, required(values.name, '--name'), '--name'),
    scopes: scopesOf(required(values.scopes, '--scopes')),
    expiresAt: values.expires === undefined ? null : expiryOf(values.expires),
    rateLimit: countOption(values.rate, '--rate', 1, 1_000_000_000) ?? null,
  };
  return withDatabase(async database => {
    const store = storeOf(database);
    const { row, key } = await database.write(session => store.insert(session, input, null, cause()));
    const lines = [`created key ${row.id}: ${printable(row.name)}`, `key, shown this once: ${key}`];
    await printSecret(lines, `remove the key with catalog keys revoke ${row.id}, and make another`);
    return 0;
  });
}

function scopesOf(text: string): NewApiKey['scopes'] {
  const words = text.split(',').map(scope => scope.trim());
  const unknown = words.find(word => !scopes.some(scope => scope === word));
  if (unknown !== undefined) {
    throw new UsageError(`--scopes: there is no scope "${unknown}"; there are ${scopes.join(', ')}`);
  }
  return checked(createKey.shape.scopes, words, '--scopes');
}

const storeOf = (database: Database) => keyStore(database, systemClock, outboxOf(database));
const cause = () => causedBy('cli', Date.now());

function expiryOf(text: string): string {
  const moment = new Date(checked(expiry, text, '--expires'));
  if (moment.getTime() <= Date.now()) throw new UsageError(`--expires must be in the future, not ${text}`);
  return moment.toISOString();
}

async function list(args: string[]): Promise<number> {
  parse(args, {});
  return withDatabase(async database => {
    const rows = (await storeOf(database).all(database.read)).map(row => [
      String(row.id),
      `${row.prefix}…`,
      dateOf(row.created_at),
      dateOf(row.expires_at),
      dateOf(row.last_used_at),
      row.rate_limit === null ? '' : String(row.rate_limit),
      apiKeyOf(row).scopes.join(','),
      row.name,
    ]);
    await printLines(
      table(['ID', 'KEY', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'RATE', 'SCOPES', 'NAME'], rows),
    );
    return 0;
  });
}

async function revoke(args: string[]): Promise<number> {
  const text = onePositional(parse(args, {}, true).positionals, 'ID');
  const id = countOption(text, 'ID', 1, 2_147_483_647) ?? 0;
  return withDatabase(async database => {
    const store = storeOf(database);
    await database.write(async session => {
      const key = await store.lock(session, id);
      if (key === undefined) throw new Error(`there is no key ${id}`);
      await store.remove(session, key, cause());
    });
    await printLines(`revoked key ${id}`);
    return 0;
  });
}

function chunked(words: readonly string[], size: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < words.length; at += size) lines.push(words.slice(at, at + size).join(', '));
  return lines;
}
