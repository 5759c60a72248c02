/** Statements for many rows contain every row once and in order, and are not so long that other requests wait. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createBulkInsert } from '../../../src/storage/bulk.ts';
import { expectRejection } from '../../support/http/rejection.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** The maximum number of characters in the texts of a statement with more than one row. */
const most = 200_000;

describeOnDatabases('statements of many rows on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('have every row once, in order, and a bounded length of text', () => {
    const insert = createBulkInsert(service.database, 'samples', { place: 'integer', text: 'text' });
    const lengths = fc.array(fc.oneof(fc.nat(200), fc.nat(150_000), fc.constant(300_000)), {
      maxLength: 700,
    });
    fc.assert(
      fc.property(lengths, sizes => {
        const rows = sizes.map((length, place) => [place, 'x'.repeat(length)] as const);
        const written: string[] = [];
        for (const { parameters } of insert.statements(rows)) {
          const texts = parameters.filter(value => typeof value === 'string');
          const length = texts.reduce((sum, text) => sum + text.length, 0);
          const count = kind === 'sqlite' ? parameters.length / 2 : String(parameters[0]).split(',').length;
          // On PostgreSQL the places are sent as text, too: some digits for each row.
          if (count > 1) expect(length).toBeLessThanOrEqual(most + 10 * count);
          const places = parameters.filter((_, index) => index % 2 === 0).map(String);
          written.push(...(kind === 'sqlite' ? places : places.join().replace(/[{}]/g, '').split(',')));
        }
        expect(written).toEqual(rows.map(([place]) => String(place)));
      }),
      { numRuns: 30 },
    );
  });

  test('that the database refuses before all rows are sent fail with its reason', async () => {
    const insert = createBulkInsert(service.database, 'counters', { name: 'text', value: 'integer' });
    // The server refuses the first part of the rows while the other two are made.
    const slow = {
      toString() {
        Bun.sleepSync(50);
        return '1';
      },
    };
    const rows = Array.from({ length: 700 }, (_, index) => [
      `${'x'.repeat(1000)} ${index === 1 ? 0 : index}`,
      kind === 'postgresql' && (index === 300 || index === 600) ? slow : 1,
    ]);
    await expectRejection(
      service.database.write(session => session.writeMany(insert, rows)),
      /unique constraint/i,
    );
  });
});
