/** A slow mail server, within the limits of RFC 5321 §4.5.3.2: each mail arrives once, and others do not wait. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { claimMs } from '../../../src/events/attempts.ts';
import { deliveries, logged, queue, serviceWith, smtp, temporary, urlOf } from '../../mail/sender.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

// The mail library’s timeouts are real time.
setDefaultTimeout(120_000);

describeOnDatabases('a slow mail server on %s', kind => {
  test('may take seconds to send its greeting', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    server.onConnection = () => Bun.sleep(7000);
    await queue(service);
    await service.settle();
    expect([server.received.length, logged(service, temporary)]).toEqual([1, []]);
  });

  test('gets a mail that it accepts after half a minute only once, from one replica, and then the next mail', async () => {
    const server = await smtp();
    const service = await serviceWith(kind, urlOf(server));
    await using replica = await service.replica();
    const arrived = Promise.withResolvers<void>();
    let [slow, ended] = [0, 0];
    let endedBefore: number | undefined;
    server.onArrival = async ({ email }) => {
      if (email.subject === 'quick') endedBefore = ended;
      if (email.subject !== 'slow') return;
      if (++slow === 4) arrived.resolve();
      await Bun.sleep(25_000);
      ended++;
    };
    for (let count = 0; count < 4; count++) await queue(service, { subject: 'slow' });
    const settled = service.settle();
    await arrived.promise;
    await queue(service, { subject: 'quick' });
    const dueAt = async () => Math.max(...(await deliveries(service)).map(({ due_at }) => due_at));
    const claimed = await dueAt();
    service.clock.advance(claimMs - 1000);
    // The claims are renewed every few seconds, so they have not expired after the second pause either.
    const renewed = async () => (await deliveries(service)).filter(({ due_at }) => due_at > claimed).length;
    for (let times = 0; times < 40 && (await renewed()) < 4; times++) await Bun.sleep(500);
    service.clock.advance(claimMs - 1000);
    void replica.settle();
    await settled;
    expect(server.received.map(({ email }) => email.subject).sort()).toEqual([
      'quick',
      ...Array(4).fill('slow'),
    ]);
    expect(endedBefore).toBe(0);
    expect([await deliveries(service), logged(service, temporary)]).toEqual([[], []]);
  });
});
