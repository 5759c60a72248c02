/** Deleting one's own account: only with the password, what is deleted with it, and what stays. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, type Person, refreshWith, signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { mailsOf, mailTo } from '../../support/peers/mails.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { password, startTestService, type TestService } from '../../support/service/service.ts';

const deletion = (headers: Readonly<Record<string, string>>, currentPassword: unknown = password) =>
  ({
    name: 'deletion',
    method: 'POST',
    path: '/v1/me/deletion',
    headers,
    body: { currentPassword },
  }) as const;

describeOnDatabases('deleting one’s own account on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const post = async (path: string, { headers }: Person, body: object) => {
    const made = await call(service, { method: 'POST', path, headers, body });
    expect([path, made.status]).toEqual([path, 201]);
    return made;
  };

  test('ends its sessions and deletes its reviews; its orders stay', async () => {
    const person = await addPerson(service);
    const { id, email, path, headers, refreshToken } = person;
    const product = await addProduct(service);
    await post(`${pathOf(product)}/reviews`, person, { rating: 5, body: 'Bright.' });
    await post('/v1/todos', person, { title: 'Buy a lamp' });
    const order = await post(`${path}/orders`, person, { items: [{ productId: product.id, quantity: 1 }] });

    const mails = await mailsOf(service, () => play(service, { ...deletion(headers), status: 204 }));

    const mail = mailTo(mails, email);
    expect(mail.subject).toBe('Your account at Catalog was deleted');
    // The address was not confirmed: the name may have been chosen to reach a stranger.
    expect(mail.text).not.toContain(person.name);
    for (const request of [{ path: '/v1/me' }, deletion(headers)])
      await play(service, { name: 'gone', ...request, headers, status: 401, error: 'UNAUTHORIZED' });
    expect((await refreshWith(service, refreshToken)).status).toBe(401);
    expect((await signInAs(service, email)).status).toBe(401);
    await play(service, { name: 'read', path, as: 'admin', status: 404, error: 'NOT_FOUND' });
    const after = await call(service, { path: pathOf(product), as: 'admin' });
    expect(after.body.rating).toEqual({ average: null, count: 0 });
    const kept = await call(service, { path: `/v1/orders/${order.body.id}`, as: 'admin' });
    expect(kept.body).toMatchObject({ id: order.body.id, customerId: id, items: order.body.items });
    const events = await eventsOf(service, 'user', id);
    expect(events.map(({ type, actor }) => [type, actor]).at(-1)).toEqual(['user.deleted', `user:${id}`]);
    // The address is free again.
    expect((await addPerson(service, 'user', { email })).id).toBeGreaterThan(id);
  });

  test('without the current password nothing is written', async () => {
    const person = await addPerson(service);
    const { headers } = person;
    await writesNothing(service, async () => {
      const wrong = deletion(headers, 'not the password');
      const response = await play(service, { ...wrong, status: 403, error: 'WRONG_PASSWORD' });
      expect(response.body.details[0].field).toBe('currentPassword');
      for (const [value, rule] of [
        ['', 'minLength'],
        [undefined, 'required'],
        [1, 'type'],
      ] as const)
        await play(service, {
          ...deletion(headers),
          body: { currentPassword: value },
          status: 400,
          problems: [['currentPassword', rule]],
        });
      const stale = { ...headers, 'If-Match': '"another"' };
      await play(service, { ...deletion(stale), status: 412, error: 'PRECONDITION_FAILED' });
    });
    expect((await refreshWith(service, person.refreshToken)).status).toBe(200);
  });

  test('an API key cannot delete an account', async () => {
    const key = await addKey(service, 'users:write');
    await writesNothing(service, () => play(service, { ...deletion(key), status: 403, error: 'FORBIDDEN' }));
  });

  test('guesses at the password are limited', async () => {
    const { headers } = await addPerson(service);
    const guesses = Array.from({ length: 21 }, () => call(service, deletion(headers, 'a guess')));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(403), 429]);
  });

  test('one of two concurrent deletions succeeds; a deletion and a password change exclude each other', async () => {
    const twice = await addPerson(service);
    const both = await Promise.all([1, 2].map(() => call(service, deletion(twice.headers))));
    expect(both.map(({ status }) => status).sort()).toEqual([204, 401]);
    const { id, headers } = await addPerson(service);
    const change = {
      method: 'PUT',
      path: '/v1/me/password',
      headers,
      body: { currentPassword: password, newPassword: 'another long password' },
    } as const;
    const [deleted, changed] = await Promise.all([call(service, deletion(headers)), call(service, change)]);
    const outcomes = [
      [204, 401],
      [401, 204],
      [403, 204],
    ];
    expect(outcomes).toContainEqual([deleted.status, changed.status]);
    const types = (await eventsOf(service, 'user', id)).map(({ type }) => type);
    expect(types.at(-1)).toBe(deleted.status === 204 ? 'user.deleted' : 'user.password_changed');
  });

  test('the last administrator cannot be deleted', async () => {
    const alone = await startTestService(kind);
    try {
      const request = { ...deletion({}), as: 'admin', status: 409, error: 'LAST_ADMINISTRATOR' } as const;
      await writesNothing(alone, () => play(alone, request));
      const other = await addPerson(alone, 'admin');
      await play(alone, { ...deletion(other.headers), status: 204 });
      await writesNothing(alone, () => play(alone, request));
    } finally {
      await alone.stop();
    }
  });
});
