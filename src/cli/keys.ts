/** `catalog keys`: lets an operator on the machine manage the API keys of other programs. */
import { z } from 'zod';
import { createCause, createCommandOutbox } from '../events/outbox.ts';
import { systemClock } from '../ports/clock.ts';
import { createKey, expiry, type NewApiKey, scopes } from '../resources/keys/schema.ts';
import { createKeyStore, toApiKey } from '../resources/keys/store.ts';
import { type Database, maxId } from '../storage/database.ts';
import { splitIntoParts } from '../turns/slices.ts';
import { runWithDatabase } from './database.ts';
import {
  escapeUnprintable,
  formatDate,
  formatTable,
  printDone,
  printRead,
  printSecret,
} from './terminal/index.ts';
import {
  type Command,
  parse,
  parseCountOption,
  parseValue,
  requireOnePositional,
  requireOption,
  runAction,
  UsageError,
} from './usage.ts';

export const command: Command = {
  help: `Usage: catalog keys create --name NAME --scopes SCOPE,SCOPE [--expires DATE] [--rate N]
       catalog keys list
       catalog keys revoke ID

  create  creates a key and shows it once: only its hash is stored
  list    lists all keys, without their secrets
  revoke  revokes a key; requests with it then get 401

  --name NAME     what the key is for
  --scopes LIST   what it may do, separated by commas:
                  ${Array.from(splitIntoParts(scopes, 4), some => some.join(', ')).join(',\n                  ')}
  --expires DATE  when it expires: 2027-01-31 (the start of that day, UTC) or 2027-01-31T12:00:00Z; default: never
  --rate N        requests per quota window that the key may send; default: RATE_LIMIT

A program sends the key as X-API-Key.

Exit status: 0 done; 1 the command failed and changed nothing, or what it changed could not be shown, and the message
says so; 2 the command line is wrong.`,

  run: args => runAction({ create, list, revoke }, args),
};

const dateOrMoment = z.union([z.iso.date(), expiry], {
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
    name: parseValue(shape.name, requireOption(values.name, '--name'), '--name'),
    scopes: parseScopes(requireOption(values.scopes, '--scopes')),
    expiresAt: values.expires === undefined ? null : parseExpiry(values.expires),
    rateLimit: parseCountOption(values.rate, '--rate', 1, 1_000_000_000) ?? null,
  };
  return runWithDatabase(async database => {
    const store = createStore(database);
    const { row, key } = await database.write(session =>
      store.insert(session, input, null, createCommandCause()),
    );
    const lines = [`created key ${row.id}: ${escapeUnprintable(row.name)}`, `key, shown this once: ${key}`];
    await printSecret(lines, `revoke the key with catalog keys revoke ${row.id}, and create another`);
    return 0;
  });
}

function parseScopes(text: string): NewApiKey['scopes'] {
  const words = text.split(',').map(scope => scope.trim());
  const unknown = words.find(word => !scopes.some(scope => scope === word));
  if (unknown !== undefined)
    throw new UsageError(`--scopes: there is no scope "${unknown}"; the scopes are ${scopes.join(', ')}`);
  return parseValue(createKey.shape.scopes, words, '--scopes');
}

const createStore = (database: Database) =>
  createKeyStore(database, systemClock, createCommandOutbox(database));
const createCommandCause = () => createCause('cli', Date.now());

function parseExpiry(text: string): string {
  const moment = new Date(parseValue(dateOrMoment, text, '--expires'));
  if (moment.getTime() <= Date.now()) throw new UsageError(`--expires must be in the future, not ${text}`);
  return moment.toISOString();
}

async function list(args: string[]): Promise<number> {
  parse(args, {});
  return runWithDatabase(async database => {
    const rows = (await createStore(database).all(database.read)).map(row => [
      String(row.id),
      `${row.prefix}…`,
      formatDate(row.created_at),
      formatDate(row.expires_at),
      formatDate(row.last_used_at),
      row.rate_limit === null ? '' : String(row.rate_limit),
      toApiKey(row).scopes.join(','),
      row.name,
    ]);
    await printRead(
      formatTable(['ID', 'KEY', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'RATE', 'SCOPES', 'NAME'], rows),
    );
    return 0;
  });
}

async function revoke(args: string[]): Promise<number> {
  const text = requireOnePositional(parse(args, {}, true).positionals, 'ID');
  const id = parseCountOption(text, 'ID', 1, maxId);
  return runWithDatabase(async database => {
    const store = createStore(database);
    await database.write(async session => {
      const key = await store.lock(session, id);
      if (key === undefined) throw new Error(`there is no key ${id}; catalog keys list lists all`);
      await store.remove(session, key, createCommandCause());
    });
    await printDone(`revoked key ${id}`);
    return 0;
  });
}
