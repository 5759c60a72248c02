/** A write is checked against the definitions that its transaction sees, even if a check for changes comes in between. */
import { expect, test } from 'bun:test';
import { createCommandOutbox } from '../../../src/events/outbox.ts';
import { createDefinitionStore } from '../../../src/resources/attributes/store.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService } from '../../support/service/service.ts';

describeOnDatabases('definitions that a transaction sees on %s', kind => {
  test('are current even when a check for changes comes while their version is read', async () => {
    await using service = await startTestService(kind);
    const other = await service.replica();
    const { database } = service;
    const definitions = createDefinitionStore(database, createCommandOutbox(database));
    expect((await definitions.current()).size).toBe(0);
    const seen = await definitions.seenBy({
      ...database.read,
      async first(query) {
        const body = { key: 'watt', type: 'number' };
        const { status } = await call(other, { method: 'POST', path: '/v1/attributes', as: 'admin', body });
        expect(status).toBe(201);
        await database.changes.check();
        return database.read.first(query);
      },
    });
    expect([...seen.keys()]).toEqual(['watt']);
  });
});
