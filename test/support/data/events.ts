/** Events for tests to work on: recorded as resources record them, and read as they are shown. */
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { toEventJson } from '../../../src/resources/events/store.ts';
import type { TestService } from '../service/service.ts';

export interface Happening {
  readonly resource: string;
  readonly resourceId: number;
  readonly action: string;
  readonly before?: object;
  readonly after?: object;
}

/** Records events in one transaction, and waits until all of them have been delivered. */
export async function record(
  service: Pick<TestService, 'database' | 'clock' | 'settle'>,
  ...happenings: readonly Happening[]
): Promise<void> {
  const outbox = createCommandOutbox(service.database);
  const text = (document: object | undefined) => (document === undefined ? null : JSON.stringify(document));
  await service.database.write(async session => {
    for (const { before, after, ...change } of happenings) {
      const documents = { before: text(before), after: text(after) };
      await outbox.record(session, { ...change, ...documents }, createCause('test', service.clock.now()));
    }
  });
  await service.settle();
}

export interface ShownEvent {
  readonly type: string;
  readonly actor: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The events of one resource, oldest first, as they are shown. */
export async function eventsOf(
  { database }: Pick<TestService, 'database'>,
  resource: string,
  id: number,
): Promise<ShownEvent[]> {
  const { build, read } = database;
  const query = build.selectFrom('events').selectAll().where('resource', '=', resource);
  const rows = await read.all(query.where('resource_id', '=', id).orderBy('id').compile());
  return rows.map(row => {
    const { type, actor, before, after } = JSON.parse(toEventJson(row));
    return { type, actor, before, after };
  });
}
