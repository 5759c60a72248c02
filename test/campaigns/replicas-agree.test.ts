/**
 * After bursts of writes through two replicas at once, with reads between them, both return the same bodies and entity
 * tags as a replica that has just started. `catalog check` finds no errors. In the audit trail, each change begins with
 * the state that the one before it left, and the last change of a product ends with what is shown. A resource is
 * covered once an area (support/areas/) has its writes and reads.
 */
import { expect, test } from 'bun:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { createChecks } from '../../src/cli/check/parts.ts';
import type { Role } from '../../src/http/access.ts';
import { toEventJson } from '../../src/resources/events/store.ts';
import { type Area, categories, maxIds, options, post, type Write, words } from '../support/areas/area.ts';
import { people } from '../support/areas/people.ts';
import { shop } from '../support/areas/shop.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';
import { countDraws } from './share.ts';

/** Areas of the service, with some of the roles that read them. */
const areas: readonly (readonly [name: string, area: Area, readers: readonly Role[]])[] = [
  ['a shop', shop, ['admin']],
  ['people and what they write', people, ['admin', 'user']],
];

/** Error responses contain the id of the request, so that it must not vary. */
const headers = { 'X-Request-ID': 'the-same-for-all' };

type Drawn = Write & { readonly kind: string };

const writesIn = ({ writes, often }: Area): fc.Arbitrary<Drawn> =>
  fc.record({
    kind: fc.constantFrom(...Object.keys(writes), ...often),
    id: fc.integer({ min: 1, max: maxIds }),
    word: fc.constantFrom(...words),
    category: fc.constantFrom(...categories),
    number: fc.integer({ min: 1, max: 9 }),
    isFirst: fc.boolean(),
  });

async function read(service: TestService, path: string, as: Role = 'admin') {
  const { status, text, headers: received } = await call(service, { path, as, headers });
  return { path, status, etag: received.get('etag'), modified: received.get('last-modified'), text };
}

async function addProducts(service: TestService): Promise<void> {
  for (const [index, word] of [...words, ...words].entries()) {
    const category = categories[index % categories.length];
    await call(service, post('/v1/products', { name: `${word} ${index}`, price: index, category, options }));
  }
}

/** Sends all writes at once, alternately to both, each with a read of the other. @returns how many were accepted */
async function write(burst: readonly Drawn[], area: Area, both: readonly [TestService, TestService]) {
  const statuses = await Promise.all(
    burst.map(async ({ kind, ...one }, index) => {
      const [first, second] = index % 2 === 0 ? both : both.toReversed();
      const path = area.reads[(one.id * one.number) % area.reads.length];
      const request = area.writes[kind]?.(one);
      if (first === undefined || second === undefined || path === undefined || request === undefined)
        throw new Error(`no write ${kind}`);
      const [{ status }] = await Promise.all([call(first, request), read(second, path)]);
      return status;
    }),
  );
  return statuses.filter(status => status < 300).length;
}

/** Must run before the service searches: SQLite checks FTS5 by what a connection read earlier. */
async function expectNothingWrong({ database }: TestService): Promise<void> {
  for (const { name, find } of createChecks(database))
    expect([name, await database.snapshot(find)]).toEqual([name, []]);
}

/** Events show the paths of their time: renaming a category adds no events to its products. */
function leavePathsOut(document: unknown): unknown {
  if (typeof document !== 'object' || document === null) return null;
  const passing = ['category', 'categories', 'path', 'requiredIn'];
  return Object.fromEntries(Object.entries(document).filter(([member]) => !passing.includes(member)));
}

/** Follows the whole trail, and compares the last state of each product with what is shown. */
async function expectUnbroken(service: TestService): Promise<void> {
  const { build, read: reading } = service.database;
  const last = new Map<string, unknown>();
  const broken: unknown[] = [];
  for (const row of await reading.all(build.selectFrom('events').selectAll().orderBy('id').compile())) {
    const { resource, resourceId, ...event } = JSON.parse(toEventJson(row));
    const path = `/v1/${resource}s/${resourceId}`;
    const before = leavePathsOut(event.before);
    const expected = last.get(path);
    if (expected !== undefined && !isDeepStrictEqual(before, expected)) broken.push({ event, expected });
    last.set(path, leavePathsOut(event.after));
  }
  expect(broken).toEqual([]);
  for (const [path, after] of last) {
    if (!path.startsWith('/v1/products/')) continue;
    const { status, text } = await read(service, path);
    expect([path, status === 200 ? leavePathsOut(JSON.parse(text)) : null]).toEqual([path, after]);
  }
}

describeOnDatabases('replicas on %s', kind => {
  test.each([...areas])('agree with a newly started replica after writes to %s', async (_, area, readers) => {
    const readAll = (from: TestService) =>
      Promise.all(readers.flatMap(as => area.reads.map(path => read(from, path, as))));
    // Links must begin alike on all replicas.
    await using service = await startTestService(kind, { BASE_URL: 'https://shop.example' });
    const other = await service.replica();
    await addProducts(service);
    let accepted = 0;
    const drawn = fc.array(writesIn(area), { minLength: 20, maxLength: 40 });
    const bursts = fc.asyncProperty(drawn, async burst => {
      await Promise.all([readAll(service), readAll(other)]);
      service.clock.advance(1000);
      accepted += await write(burst, area, [service, other]);
      // The index gets the words of renamed categories after the commit.
      await service.settle();
      const replica = await service.replica();
      await expectNothingWrong(replica);
      const expected = await readAll(replica);
      expect(await readAll(service)).toEqual(expected);
      expect(await readAll(other)).toEqual(expected);
      await expectUnbroken(replica);
      await replica.stop();
    });
    const numRuns = countDraws(3);
    await fc.assert(bursts, { numRuns, endOnFailure: true });
    // At least 20 writes were sent each time, of which about half are refused.
    expect(accepted).toBeGreaterThan(5 * numRuns);
  });
});
