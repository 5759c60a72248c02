/** Accounts that the command line creates and changes. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCommandOutbox } from '../../src/events/outbox.ts';
import { createKnownAddresses } from '../../src/resources/auth/known-addresses.ts';
import { createPasswordCheck } from '../../src/resources/auth/passwords.ts';
import { createSessionStore } from '../../src/resources/auth/store.ts';
import { createKeyStore } from '../../src/resources/keys/store.ts';
import { createMailTokens } from '../../src/resources/users/mail-tokens.ts';
import { createUserStore } from '../../src/resources/users/store.ts';
import { eventsOf } from '../support/data/events.ts';
import { describeOnDatabases } from '../support/service/databases.ts';

import { createPlace, type Place, withDatabaseOf } from './program.ts';

const userOf = (place: Place, email: string) =>
  withDatabaseOf(place, database =>
    createUserStore(database, createCommandOutbox(database)).findByEmail(database.read, email),
  );

const addSession = (place: Place, userId: number, hash: string) =>
  withDatabaseOf(place, database =>
    database.write(session =>
      createSessionStore(database).insert(session, {
        id: hash,
        user_id: userId,
        token_hash: hash,
        created_at: 1,
        last_used_at: 1,
        expires_at: 9e12,
      }),
    ),
  );

const hasSession = (place: Place, hash: string) =>
  withDatabaseOf(
    place,
    async database => (await createSessionStore(database).findByToken(database.read, hash)) !== undefined,
  );

describeOnDatabases('accounts on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    place = await createPlace(kind);
    expect((await place.runHere(['migrate'])).status).toBe(0);
    const create = ['users', 'create', '--email', 'Ada@shop.example', '--name', 'Ada', '--role', 'admin'];
    const created = await place.run([...create, '--password-stdin'], 'correct horse battery\n');
    expect(created).toMatchObject({ status: 0, out: 'created user 1: Ada@shop.example, admin\n' });
  });
  afterAll(() => place.remove());

  test('create takes the password from standard input', async () => {
    const create = ['users', 'create', '--email', 'Zoe@shop.example', '--name', 'Zoe', '--role', 'user'];
    expect((await place.run([...create, '--password-stdin'], 'correct horse battery\n')).status).toBe(0);
    const user = await userOf(place, 'zoe@SHOP.example');
    // Hashed with the full work that SECURITY.md promises.
    expect(user?.password_hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
    expect(await createPasswordCheck().verify('correct horse battery', user?.password_hash)).toBe(true);
  });

  test('a password is the first line, even while the pipe stays open, and in UTF-8', async () => {
    const create = (email: string) =>
      place.start(['users', 'create', '--email', email, '--name', 'B', '--role', 'user', '--password-stdin']);
    const open = create('open@shop.example');
    open.stdin.write('pässword with umlaut\r\nanother line');
    await open.stdin.flush();
    expect(await open.exited).toBe(0);
    const user = await userOf(place, 'open@shop.example');
    expect(await createPasswordCheck().verify('pässword with umlaut', user?.password_hash)).toBe(true);
    const latin = create('latin@shop.example');
    latin.stdin.write(Buffer.from('pässword with umlaut\n', 'latin1'));
    await latin.stdin.end();
    expect(await latin.stderr.text()).toContain('the password is not a text in UTF-8');
    expect([await latin.exited, await userOf(place, 'latin@shop.example')]).toEqual([2, undefined]);
  });

  test.each([
    [
      'an address that is taken in another case',
      ['--email', 'ADA@shop.example', '--role', 'user'],
      undefined,
      1,
      'e-mail address ADA@shop.example already exists',
    ],
    [
      'no e-mail address',
      ['--email', 'ada', '--role', 'user'],
      undefined,
      2,
      '--email must be an e-mail address',
    ],
    [
      'an unknown role',
      ['--email', 'b@shop.example', '--role', 'boss'],
      undefined,
      2,
      '--role is one of admin, editor, user, not "boss"',
    ],
    [
      'a short password',
      ['--email', 'b@shop.example', '--role', 'user', '--password-stdin'],
      'short',
      2,
      'the password must be at least 10',
    ],
  ] as const)('create refuses %s', async (_, options, input, status, message) => {
    const create = ['users', 'create', '--name', 'B', ...options];
    const ended = await (input === undefined ? place.runHere(create) : place.run(create, input));
    expect(ended.status).toBe(status);
    expect(ended.err).toContain(message);
    expect(ended.err.trimEnd().split('\n').length).toBe(1);
    expect(await userOf(place, 'b@shop.example')).toBeUndefined();
  });

  test('set-password ends sessions, forgets known addresses, and shows a generated password once', async () => {
    await addSession(place, 1, 'h');
    const isKnown = () =>
      withDatabaseOf(place, database =>
        createKnownAddresses(database).isKnown(database.read, 'ada@shop.example', '192.0.2.1'),
      );
    await withDatabaseOf(place, database =>
      database.write(session =>
        createKnownAddresses(database).keep(session, 1, 'ada@shop.example', '192.0.2.1', Date.now()),
      ),
    );
    expect(await isKnown()).toBe(true);
    const ended = await place.runHere(['users', 'set-password', 'ada@shop.example']);
    const password = /shown this once: (\S{20})\n$/.exec(ended.out)?.[1] ?? '';
    const user = await userOf(place, 'ada@shop.example');
    expect(await createPasswordCheck().verify(password, user?.password_hash)).toBe(true);
    expect([await hasSession(place, 'h'), await isKnown()]).toEqual([false, false]);
  });

  test('set-password invalidates the reset links of that user only; an address can still be confirmed', async () => {
    const emails = ['grace@shop.example', 'hedy@shop.example'] as const;
    for (const email of emails) {
      const create = ['users', 'create', '--email', email, '--name', 'Some one', '--role', 'user'];
      expect((await place.runHere(create)).status).toBe(0);
    }
    const purposes = ['password', 'verification'] as const;
    const issued = await withDatabaseOf(place, database =>
      database.write(async session => {
        const users = createUserStore(database, createCommandOutbox(database));
        const tokens: { email: string; purpose: 'password' | 'verification'; token: string; id: number }[] =
          [];
        for (const email of emails) {
          const id = (await users.findByEmail(session, email))?.id ?? 0;
          for (const purpose of purposes) {
            const to = { userId: id, purpose, now: Date.now(), lifetime: 60_000 };
            await createMailTokens(database).issue(session, to, async token => {
              tokens.push({ email, purpose, token, id });
            });
          }
        }
        return tokens;
      }),
    );
    const current = () =>
      withDatabaseOf(place, async database => {
        const tokens = createMailTokens(database);
        const good = [];
        for (const { email, purpose, token, id } of issued)
          if ((await tokens.ownerOf(database.read, token, purpose, Date.now())) === id)
            good.push(`${email} ${purpose}`);
        return good;
      });
    expect(await current()).toHaveLength(4);
    expect((await place.runHere(['users', 'set-password', emails[0]])).status).toBe(0);
    expect(await current()).toEqual([
      'grace@shop.example verification',
      'hedy@shop.example password',
      'hedy@shop.example verification',
    ]);
  });

  test('events record the changes of the command line, without passwords', async () => {
    const email = 'told@shop.example';
    const create = ['users', 'create', '--email', email, '--name', 'Told', '--role', 'user'];
    expect((await place.runHere(create)).status).toBe(0);
    const id = (await userOf(place, email))?.id ?? 0;
    await addSession(place, id, 'told');
    expect((await place.runHere(['users', 'set-role', email, 'user'])).status).toBe(0);
    expect(await hasSession(place, 'told')).toBe(true);
    expect((await place.runHere(['users', 'set-role', email, 'editor'])).status).toBe(0);
    expect(await hasSession(place, 'told')).toBe(false);
    expect((await place.runHere(['users', 'set-password', email])).status).toBe(0);
    const events = await withDatabaseOf(place, database => eventsOf({ database }, 'user', id));
    expect(events.map(({ type, actor }) => [type, actor])).toEqual([
      ['user.created', 'cli'],
      ['user.updated', 'cli'],
      ['user.password_changed', 'cli'],
    ]);
    expect(events.at(-1)?.after).toMatchObject({ email, role: 'editor', version: 3 });
    expect(JSON.stringify(events)).not.toMatch(/argon2|password_hash/);
  });

  test('the last administrator cannot be demoted', async () => {
    const demote = ['users', 'set-role', 'ada@shop.example', 'editor'];
    expect(await place.runHere(demote)).toMatchObject({
      status: 1,
      err: expect.stringContaining('last administrator'),
    });
    const second = ['users', 'create', '--email', 'eve@shop.example', '--name', 'Eve', '--role', 'admin'];
    expect((await place.runHere(second)).status).toBe(0);
    expect((await place.runHere(demote)).status).toBe(0);
    expect((await userOf(place, 'ada@shop.example'))?.role).toBe('editor');
    const listed = (await place.runHere(['users', 'list'])).out;
    expect(listed).toMatch(/^1 +Ada@shop\.example +editor .* Ada$/m);
    expect(await place.runHere(['users', 'set-role', 'no@shop.example', 'user'])).toMatchObject({
      status: 1,
      err: 'catalog users: there is no user with the e-mail address no@shop.example; catalog users list lists all\n',
    });
  });

  test('keys: create, use, list, revoke', async () => {
    const made = await place.runHere([
      'keys',
      'create',
      '--name',
      'import',
      '--scopes',
      'products:read, products:write',
      '--expires',
      '2999-01-31',
      '--rate',
      '20000',
    ]);
    const key = /shown this once: (ck_\S+)\n/.exec(made.out)?.[1] ?? '';
    const authenticate = () =>
      withDatabaseOf(place, database =>
        createKeyStore(database, { now: Date.now }, createCommandOutbox(database)).authenticate(key),
      );
    expect(await authenticate()).toMatchObject({
      kind: 'key',
      scopes: new Set(['products:read', 'products:write']),
    });
    const listed = (await place.runHere(['keys', 'list'])).out;
    expect(listed).toMatch(
      /^1 +ck_\S{6}… .*2999-01-31 00:00 .* 20000 +products:read,products:write +import$/m,
    );
    expect(listed).not.toContain(key);
    expect(await place.runHere(['keys', 'revoke', '1'])).toMatchObject({ status: 0, out: 'revoked key 1\n' });
    expect(await authenticate()).toBe('UNAUTHORIZED');
    expect(await place.runHere(['keys', 'revoke', '1'])).toMatchObject({
      status: 1,
      err: 'catalog keys: there is no key 1; catalog keys list lists all\n',
    });
    const events = await withDatabaseOf(place, ({ read, build }) =>
      read.all(
        build
          .selectFrom('events')
          .select(['type', 'actor'])
          .where('resource', '=', 'key')
          .orderBy('id')
          .compile(),
      ),
    );
    expect(events).toEqual([
      { type: 'key.created', actor: 'cli' },
      { type: 'key.revoked', actor: 'cli' },
    ]);
  });

  test.each([
    [['--scopes', 'products:read'], '--name is missing'],
    [
      ['--name', 'x', '--scopes', 'products'],
      '--scopes: there is no scope "products"; the scopes are products:read, products:write',
    ],
    [['--name', 'x', '--scopes', 'products:read', '--expires', 'soon'], '--expires is a date such as'],
    [
      ['--name', 'x', '--scopes', 'products:read', '--expires', '9999-12-31T23:59:59-00:01'],
      '--expires is a date such as',
    ],
    [
      ['--name', 'x', '--scopes', 'products:read', '--expires', '2001-01-01'],
      '--expires must be in the future',
    ],
    [
      ['--name', 'x', '--scopes', 'products:read', '--rate', '0'],
      '--rate takes an integer from 1 to 1000000000',
    ],
  ])('keys create %j is refused', async (options, message) => {
    const ended = await place.runHere(['keys', 'create', ...options]);
    expect(ended).toMatchObject({ status: 2, err: expect.stringContaining(message) });
  });
});
