/** Text from outside cannot control the terminal, and cannot look like a line of the program. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { formatTable } from '../../src/cli/terminal/index.ts';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { createKeyStore } from '../../src/resources/keys/store.ts';
import { createUserStore } from '../../src/resources/users/store.ts';
import { createCatalog, type Place, withDatabaseOf } from './program.ts';

const hostile = 'x\n9  forged@shop.example  admin\u001B[2J\u009B1m\u007F\r\t\u202Etxt\u2066\u2028\u200E';
const escaped =
  'x\\n9  forged@shop.example  admin\\u001b[2J\\u009b1m\\u007f\\r\\t\\u202etxt\\u2066\\u2028\\u200e';
const unprintable = /[^\P{C}\n]|[\u2028\u2029]/u;

let place: Place;
beforeAll(async () => {
  place = await createCatalog('sqlite');
});
afterAll(() => place.remove());

test('names of users and keys are shown with escapes, each in its own row', async () => {
  await withDatabaseOf(place, async database => {
    const user = {
      email: 'a@shop.example',
      name: hostile,
      role: 'user',
      passwordHash: '',
      verifiedAt: 1,
    } as const;
    const key = { name: hostile, scopes: ['data:read'], expiresAt: null, rateLimit: null } as const;
    const cause = createCause('cli', 1);
    await database.write(async session => {
      await createUserStore(database, createCommandOutbox(database)).insert(session, user, cause);
      await createKeyStore(database, { now: () => 1 }, createCommandOutbox(database)).insert(
        session,
        { ...key, scopes: ['data:read'] },
        null,
        cause,
      );
    });
  });
  for (const list of ['users', 'keys']) {
    const { out } = await place.runHere([list, 'list']);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(out).toContain(escaped);
    expect(out).not.toMatch(unprintable);
  }
});

test('columns and values of a file, and arguments, are quoted with escapes', async () => {
  const csv = place.file('a.csv', `name,price,"${hostile}"\n"a\u001B]0;x\u0007",x,\nCup,5,1\n`);
  // A lone carriage return would end the line.
  const column = hostile.replace('\r', '');
  const renamed = place.file('b.csv', `title,"${column}"\nCup,5\n`);
  const runs = [
    ['import', csv, '--set', 'brand=B'],
    ['import', csv, '--map', 'sku=missing'],
    ['import', renamed],
    ['import', csv, '--preset', 'shopify'],
    ['import', `${place.folder}/${hostile}`],
    ['users', 'set-role', hostile, 'admin'],
    ['keys', 'revoke', hostile],
    [hostile],
  ];
  for (const args of runs) {
    const { err } = await place.runHere(args);
    expect(err).not.toMatch(unprintable);
    expect(err).not.toMatch(/^9 /m);
  }
  expect((await place.runHere(['import', renamed])).err).toContain(
    `one of title, ${escaped.replace('\\r', '')}\n`,
  );
});

test('letters of all scripts, and joined emoji, are shown as they are', async () => {
  const other = await createCatalog('sqlite');
  const name = 'Zoë Ñandú 山田 محمد 👩‍💻';
  await other.runHere(['keys', 'create', '--name', name, '--scopes', 'data:read']);
  expect((await other.runHere(['keys', 'list'])).out).toContain(`${name}\n`);
  other.remove();
});

test('a table of a million rows is aligned', () => {
  const rows = Array.from({ length: 1_000_000 }, (_, index) => [String(index), 'x']);
  const table = formatTable(['ID', 'NAME'], rows);
  expect(table.slice(0, 26)).toBe('ID      NAME\n0       x\n1  ');
  expect(table.slice(-9)).toBe('999999  x');
});
