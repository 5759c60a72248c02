/** Dates in preconditions (RFC 9110 §5.6.7): three forms, and anything else is ignored. The clock shows 2026-01-15. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Whether a date is earlier or later than the change of a product; undefined if the date is ignored. */
const dates: [name: string, date: string, than: 'earlier' | 'later' | undefined][] = [
  ['the usual form', 'Thu, 15 Jan 2099 09:30:00 GMT', 'later'],
  ['the oldest form', 'Thu Jan  1 09:30:00 2099', 'later'],
  ['a day of two digits in the oldest form', 'Wed Jan 14 09:30:00 2026', 'earlier'],
  ['a leap second', 'Sat, 30 Jun 2096 23:59:60 GMT', 'later'],
  ['the year 99', 'Thu, 01 Jan 0099 09:30:00 GMT', 'earlier'],
  ['two digits of a year to come', 'Saturday, 01-Jan-50 09:30:00 GMT', 'later'],
  ['two digits of a year 50 years ahead', 'Wednesday, 01-Jan-76 09:30:00 GMT', 'later'],
  ['two digits of a day more than 50 years ahead', 'Thursday, 16-Jan-76 09:30:00 GMT', 'earlier'],
  ['two digits of a year more than 50 years ahead', 'Saturday, 01-Jan-77 09:30:00 GMT', 'earlier'],
  ['two digits of a past year', 'Saturday, 01-Jan-05 09:30:00 GMT', 'earlier'],
  ['a word and a year', 'Foo 2099', undefined],
  ['a word and a past year', 'Foo 1999', undefined],
  ['an unknown day of the week', 'Foo, 15 Jan 2099 09:30:00 GMT', undefined],
  ['an unknown month', 'Thu, 15 Foo 2099 09:30:00 GMT', undefined],
  ['a day that no month has', 'Thu, 30 Feb 2099 09:30:00 GMT', undefined],
  ['the hour 24', 'Thu, 15 Jan 2099 24:00:00 GMT', undefined],
  ['another zone', 'Thu, 15 Jan 2099 09:30:00 +0000', undefined],
  ['no zone', 'Thu, 15 Jan 2099 09:30:00', undefined],
  ['small letters', 'thu, 15 jan 2099 09:30:00 gmt', undefined],
];

describeOnDatabases('dates in preconditions on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(dates)('%s: %s is %s', async (name, date, than) => {
    const path = pathOf(await addProduct(service));
    const modified = { path, as: 'user' as const, headers: { 'If-Modified-Since': date } };
    expect((await call(service, modified)).status).toBe(than === 'later' ? 304 : 200);
    const unmodified = { path, as: 'editor' as const, headers: { 'If-Unmodified-Since': date } };
    const status = than === 'earlier' ? 412 : 200;
    expect((await call(service, unmodified)).status).toBe(status);
    expect(
      (await call(service, { ...unmodified, method: 'PATCH', body: { description: name } })).status,
    ).toBe(status);
  });
});
