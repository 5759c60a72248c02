/**
 * Access tokens end with their user's sessions: immediately in the process that ends them and for what only staff may
 * see, and within half a minute elsewhere.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runHere } from '../../cli/here.ts';
import { addPerson, type Person, signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { startHeldService } from '../../support/peers/held-locks.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import {
  password,
  serviceSecret,
  startTestService,
  type TestService,
} from '../../support/service/service.ts';

const another = 'another long password';
/** For how long a process may not know what another process did. */
const unknownForMs = 30_000;

interface Place {
  readonly service: TestService;
  /** The settings for a command that runs beside the service. */
  readonly settings: Readonly<Record<string, string>>;
}

interface Ending {
  readonly end: (place: Place, account: Person) => Promise<unknown>;
  /** What the user signs in with afterwards; undefined when the user no longer exists. */
  readonly after: ((account: Person) => readonly [email: string, password: string]) | undefined;
  /** Whether a serving process ended the sessions, and therefore knows immediately. */
  readonly isKnown: boolean;
}

const same = ({ email }: Person) => [email, password] as const;
const withAnother = ({ email }: Person) => [email, another] as const;
const moved = ({ email }: Person) => `moved-${email}`;

const send = async (service: TestService, method: string, path: string, body?: unknown, headers = {}) => {
  const as = Object.keys(headers).length === 0 ? ({ as: 'admin' } as const) : {};
  const { status, text } = await call(service, { method, path, headers, ...as, ...(body ? { body } : {}) });
  expect([method, path, status, text]).toEqual([method, path, status < 300 ? status : 200, text]);
};
const command = async ({ settings }: Place, ...args: string[]) => {
  expect(await runHere(['users', ...args], settings)).toMatchObject({ status: 0, err: '' });
};

const endings: readonly (readonly [name: string, ending: Ending])[] = [
  [
    'the owner sets another password',
    {
      end: ({ service }, { headers }) =>
        send(service, 'PUT', '/v1/me/password', { currentPassword: password, newPassword: another }, headers),
      after: withAnother,
      isKnown: true,
    },
  ],
  [
    'a mail sets another password',
    {
      end: async ({ service }, { id, email }) => {
        const ask = () => send(service, 'POST', `/v1/users/${id}/password-reset`);
        const token = tokenIn(mailTo(await mailsOf(service, ask), email));
        await send(service, 'POST', '/v1/auth/password-reset', { token, password: another });
      },
      after: withAnother,
      isKnown: true,
    },
  ],
  [
    'an administrator gives another role',
    {
      end: ({ service }, { path }) => send(service, 'PATCH', path, { role: 'editor' }),
      after: same,
      isKnown: true,
    },
  ],
  [
    'an administrator gives another address',
    {
      end: ({ service }, account) => send(service, 'PATCH', account.path, { email: moved(account) }),
      after: account => [moved(account), password],
      isKnown: true,
    },
  ],
  [
    'an administrator deletes the user',
    {
      end: ({ service }, { path }) => send(service, 'DELETE', path),
      after: undefined,
      isKnown: true,
    },
  ],
  [
    'the command line gives another role',
    { end: (place, { email }) => command(place, 'set-role', email, 'editor'), after: same, isKnown: false },
  ],
];

describeOnDatabases('access tokens on %s', kind => {
  let place: Place;
  let replica: TestService;
  let bystander: Person;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-ended-'));
    const settings = {
      DATA_DIR: folder,
      JWT_SECRET: serviceSecret,
      ...(kind === 'postgresql' ? { DATABASE_URL: await createDatabase() } : {}),
    };
    const service = await startTestService(kind, settings);
    place = { service, settings };
    replica = await service.replica();
    bystander = await addPerson(service);
  });
  afterAll(async () => {
    await place.service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const reads = async (service: TestService, { headers }: Pick<Person, 'headers'>) => {
    const response = await call(service, { path: '/v1/products?limit=1', headers });
    if (response.status === 401) {
      expect(response.body.error).toBe('UNAUTHORIZED');
      expect(response.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
    }
    return response.status;
  };
  const writes = async (service: TestService, { headers }: Pick<Person, 'headers'>) =>
    (await call(service, { method: 'POST', path: '/v1/todos', headers, body: { title: 'Ring' } })).status;
  /** Repeats a request whose response is stored, once it has been made. */
  const repeats = async (service: TestService, { headers }: Pick<Person, 'headers'>) => {
    const sent = { ...headers, 'Idempotency-Key': 'the-same' };
    const body = { title: 'Ring once' };
    return (await call(service, { method: 'POST', path: '/v1/todos', headers: sent, body })).status;
  };
  const both = async (ask: typeof reads, account: Pick<Person, 'headers'>) => [
    await ask(place.service, account),
    await ask(replica, account),
  ];

  test.each(endings)('end when %s', async (_, { end, after, isKnown }) => {
    const { service } = place;
    const account = await addPerson(service);
    expect(await both(reads, account)).toEqual([200, 200]);
    expect(await both(repeats, account)).toEqual([201, 201]);
    await end(place, account);
    expect(await both(writes, account)).toEqual([401, 401]);
    expect(await both(repeats, account)).toEqual([401, 401]);
    if (isKnown) expect(await reads(service, account)).toBe(401);
    // A process that has just started also knows.
    await using late = await service.replica();
    expect(await reads(late, account)).toBe(401);
    await late.stop();

    // In the same second as the end of the earlier sessions.
    const signedIn = after === undefined ? undefined : await signInAs(service, ...after(account));
    const fresh = { headers: { Authorization: `Bearer ${signedIn?.body.accessToken}` } };
    if (signedIn !== undefined) expect(await both(reads, fresh)).toEqual([200, 200]);
    service.clock.advance(unknownForMs);
    expect(await both(reads, account)).toEqual([401, 401]);
    if (signedIn !== undefined) {
      expect(await both(reads, fresh)).toEqual([200, 200]);
      expect(await both(writes, fresh)).toEqual([201, 201]);
      const { refreshToken } = signedIn.body;
      const refreshed = await call(replica, {
        method: 'POST',
        path: '/v1/auth/refresh',
        body: { refreshToken },
      });
      const headers = { Authorization: `Bearer ${refreshed.body.accessToken}` };
      expect(await both(reads, { headers })).toEqual([200, 200]);
    }
    expect(await both(reads, bystander)).toEqual([200, 200]);
  });

  test.each([
    [
      'another role',
      ({ service }: Place, { path }: Person) => send(service, 'PATCH', path, { role: 'user' }),
    ],
    ['a deleted account', ({ service }: Place, { path }: Person) => send(service, 'DELETE', path)],
    [
      'another role from the command line',
      (where: Place, { email }: Person) => command(where, 'set-role', email, 'editor'),
    ],
  ] as const)(
    'of an administrator with %s stop reading others’ data at once, on every replica',
    async (_, end) => {
      const { id } = bystander;
      const administrator = await addPerson(place.service, 'admin');
      const statuses = async (service: TestService) => {
        const { headers } = administrator;
        const paths = ['keys', 'users', `users/${id}`, 'events', 'orders', `users/${id}/orders`, 'invoices'];
        const found = [
          'search?q=person&type=user',
          'search/suggest?q=per',
          'search/synonyms',
          'stock/adjustments',
        ];
        const responses = [...paths, ...found].map(path => call(service, { path: `/v1/${path}`, headers }));
        return [...new Set((await Promise.all(responses)).map(({ status }) => status))];
      };
      const { service } = place;
      expect([await statuses(service), await statuses(replica)]).toEqual([[200], [200]]);
      await end(place, administrator);
      expect([await statuses(service), await statuses(replica)]).toEqual([[401], [401]]);
    },
  );

  test('of an editor with another role stop reading others’ data at once, on every replica', async () => {
    const { headers, path } = await addPerson(place.service, 'editor');
    const paths = ['orders', `users/${bystander.id}/orders`, 'invoices', 'stock/adjustments'];
    const statuses = async (service: TestService) => {
      const responses = paths.map(name => call(service, { path: `/v1/${name}`, headers }));
      return [...new Set((await Promise.all(responses)).map(({ status }) => status))];
    };
    expect([await statuses(place.service), await statuses(replica)]).toEqual([[200], [200]]);
    await send(place.service, 'PATCH', path, { role: 'user' });
    expect([await statuses(place.service), await statuses(replica)]).toEqual([[401], [401]]);
  });

  test('stay valid after changes that end no sessions', async () => {
    const { service } = place;
    const account = await addPerson(service);
    const { headers, path, email, refreshToken } = account;
    const wrong = { currentPassword: 'not the password', newPassword: another };
    const refused = await call(service, { method: 'PUT', path: '/v1/me/password', headers, body: wrong });
    expect(refused.status).toBe(403);
    await send(service, 'PATCH', path, { name: 'Another Name' });
    await command(place, 'set-role', email, 'user');
    const second = await signInAs(service, email);
    await send(service, 'POST', '/v1/auth/logout', { refreshToken });
    service.clock.advance(unknownForMs);
    expect(await both(reads, account)).toEqual([200, 200]);
    expect(await both(writes, account)).toEqual([201, 201]);
    expect(await both(reads, { headers: { Authorization: `Bearer ${second.body.accessToken}` } })).toEqual([
      200, 200,
    ]);
  });

  test('expire when the clock is set back by more than their lifetime, and stay expired', async () => {
    await using service = await startTestService(kind);
    const { email } = await addPerson(service);
    const day = 24 * 60 * 60 * 1000;
    service.clock.advance(day);
    const { accessToken, refreshToken } = (await signInAs(service, email)).body;
    const early = { Authorization: `Bearer ${accessToken}` };
    const ask = async (where: TestService, headers: Record<string, string>) => {
      const { status, body } = await call(where, { path: '/v1/products?limit=1', headers });
      return status === 200 ? status : body.error;
    };
    expect(await ask(service, early)).toBe(200);
    service.clock.advance(-day);
    expect(await ask(service, early)).toBe('TOKEN_EXPIRED');
    const again = { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } };
    const refreshed = await call(service, again);
    const headers = { Authorization: `Bearer ${refreshed.body.accessToken}` };
    expect(await ask(service, headers)).toBe(200);
    const passwords = { currentPassword: password, newPassword: another };
    await send(service, 'PUT', '/v1/me/password', passwords, headers);
    // By then no process knows any more what has ended.
    service.clock.advance(25 * 60 * 1000);
    const replica = await service.replica();
    for (const where of [service, replica]) expect(await ask(where, early)).toBe('TOKEN_EXPIRED');
  });
});

describe.skipIf(!hasPostgres)('a request that waits for its account while the sessions end', () => {
  test.each<readonly [what: string, role: 'user' | 'admin', method: string, path: string, body: object]>([
    ['deletes the account', 'user', 'POST', '/v1/me/deletion', { currentPassword: password }],
    ['changes the account', 'user', 'PATCH', '', { name: 'Other' }],
    ['creates a user', 'admin', 'POST', '/v1/users', { name: 'New', email: 'new@people.example' }],
    ['verifies a user', 'admin', 'POST', '/v1/users/1/verify', {}],
    ['writes a post', 'admin', 'POST', '/v1/posts', { title: 'New', body: 'Text' }],
    ['creates a todo', 'user', 'POST', '/v1/todos', { title: 'New' }],
    ['creates an API key', 'admin', 'POST', '/v1/keys', { name: 'New', scopes: ['users:write'] }],
  ])('gets 401: %s', async (_, role, method, path, body) => {
    const { service, held } = await startHeldService();
    await using _held = held;
    await using _service = service;
    const me = await addPerson(service, role);
    const replica = await service.replica();
    await held.hold(me, 'users');
    const ending = call(service, { method: 'PATCH', path: me.path, as: 'admin', body: { email: moved(me) } });
    await held.waiting(1);
    const waiting = call(replica, { method, path: path || me.path, body, headers: me.headers });
    await held.waiting(2);
    await held.release();
    expect([(await ending).status, (await waiting).status]).toEqual([200, 401]);
  });
});
