/** Events for tests to work on, recorded as every resource records its own. */
import { causedBy, outboxOf } from '../../src/events/outbox.ts';
import type { TestService } from './service.ts';

export interface Happening {
  readonly resource: string;
  readonly resourceId: number;
  readonly action: string;
  readonly before?: object;
  readonly after?: object;
}

/** Records events in one transaction, and waits until everyone has been told. */
export async function record(
  service: Pick<TestService, 'database' | 'clock' | 'settle'>,
  ...happenings: readonly Happening[]
): Promise<void> {
  const outbox = outboxOf(service.database);
  const text = (document: object | undefined) => (document === undefined ? null : JSON.stringify(document));
  await service.database.write(async session => {
    for (const { before, after, ...change } of happenings) {
      const documents = { before: text(before), after: text(after) };
      await outbox.record(session, { ...change, ...documents }, causedBy('test', service.clock.now()));
    }
  });
  await service.settle();
}
