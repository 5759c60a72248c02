/** The day of issue of an invoice, in the time zone of its seller. */
import { expect, test } from 'bun:test';
import { invoiced } from '../../support/data/invoices.ts';
import { call } from '../../support/http/http.ts';
import { readPdf } from '../../support/peers/pdf.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const hour = 3_600_000;
/** At any moment it is another day than that of UTC in one of them. */
const zones = [
  { name: 'Pacific/Kiritimati', hours: 14 },
  { name: 'Etc/GMT+12', hours: -12 },
];
const toDay = (moment: number) => new Date(moment).toISOString().slice(0, 10);

describeOnDatabases('the day of issue on %s', kind => {
  async function datesOf(service: TestService, { id }: { readonly id: number }): Promise<string[]> {
    const path = `/v1/invoices/${id}`;
    const shown = await Promise.all(
      ['application/json', 'application/hal+json'].map(type =>
        call(service, { path, as: 'admin', headers: { Accept: type } }),
      ),
    );
    const pdf = await fetch(`${service.url}${path}`, {
      headers: { Accept: 'application/pdf', Authorization: `Bearer ${service.tokens.admin}` },
    });
    const { pages } = await readPdf(await pdf.bytes());
    const texts = pages
      .flat()
      .map(({ text }) => text)
      .join('\n');
    const [paid = ''] = /(?<=Paid in full on )[\d-]+/.exec(texts) ?? [];
    return [...shown.map(({ body }) => body.issueDate), paid];
  }

  test('is that of the time zone, and stays when another is set', async () => {
    await using service = await startTestService(kind);
    const now = service.clock.now();
    const far = zones.find(({ hours }) => toDay(now + hours * hour) !== toDay(now));
    await using replica = await service.replica({ INVOICE_TIME_ZONE: far?.name ?? '' });
    const [near, other] = [await invoiced(service, 'admin'), await invoiced(replica, 'admin')];
    const days = [toDay(now), toDay(now + (far?.hours ?? 0) * hour)];
    expect(days[0]).not.toBe(days[1]);
    for (const at of [service, replica])
      expect([await datesOf(at, near), await datesOf(at, other)]).toEqual(
        days.map(shown => [shown, shown, shown]),
      );
  });

  test('of invoices of earlier releases is that of UTC', async () => {
    await using service = await startTestService(kind, { INVOICE_TIME_ZONE: 'Pacific/Kiritimati' });
    const invoice = await invoiced(service, 'admin');
    const { build, read, write } = service.database;
    const row = await read.first(build.selectFrom('invoices').select('document').compile());
    const { issueDate: _, ...former } = JSON.parse(row?.document ?? '');
    const change = build.updateTable('invoices').set({ document: JSON.stringify(former) });
    await write(session => session.run(change.compile()));
    await using replica = await service.replica();
    expect(await datesOf(replica, invoice)).toEqual(Array(3).fill(invoice.issuedAt.slice(0, 10)));
  });
});
