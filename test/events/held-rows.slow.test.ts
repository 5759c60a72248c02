/** Deliveries while another transaction holds a row that one of them needs. */
import { describe, expect, test } from 'bun:test';
import { addPerson } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { holdLocks } from '../support/peers/held-locks.ts';
import { createDatabase, hasPostgres } from '../support/service/postgres.ts';
import { startTestService } from '../support/service/service.ts';

describe.skipIf(!hasPostgres)('a delivery that waits too long for a lock', () => {
  test('holds back only its own key, and is tried again', async () => {
    const url = await createDatabase();
    await using service = await startTestService('postgresql', {
      DATABASE_URL: url,
      DATABASE_LOCK_TIMEOUT: '1',
    });
    await using held = holdLocks(url);
    const [first, second] = [await addPerson(service, 'user'), await addPerson(service, 'user')];
    await held.hold(first, 'users');
    for (const { email } of [first, second]) {
      const asked = await call(service, {
        method: 'POST',
        path: '/v1/auth/forgot-password',
        body: { email },
      });
      expect(asked.status).toBe(202);
    }
    const receivers = async () =>
      (await service.mails()).flatMap(({ subject, to }) =>
        subject?.startsWith('Set a new password') ? [JSON.stringify(to)] : [],
      );
    expect(await receivers()).toEqual([expect.stringContaining(second.email)]);
    expect(service.log().map(({ message }) => message)).not.toContain(
      'deliveries are paused: the database cannot be used',
    );
    await held.release();
    service.clock.advance(1000);
    expect(await receivers()).toContainEqual(expect.stringContaining(first.email));
  });
});
