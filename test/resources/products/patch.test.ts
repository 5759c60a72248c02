/** PATCH of a product in the three media types. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, pathOf, read, whole } from '../../support/data/catalog.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const partial = 'application/json';
const merge = 'application/merge-patch+json';
const operations = 'application/json-patch+json';

const start = {
  name: 'Lamp',
  price: 12.5,
  description: 'Warm.',
  category: 'lighting',
  tags: ['desk', 'wood'],
};
const op = (name: string, path: string, value?: unknown) => ({
  op: name,
  path,
  ...(value === undefined ? {} : { value }),
});

const applied: [name: string, type: string, patch: unknown, changed: object][] = [
  ['one field', partial, { price: 10 }, { price: 10 }],
  ['nothing', partial, {}, {}],
  ['null as a value', partial, { description: null, category: null }, { description: null, category: null }],
  ['null tags', partial, { tags: null }, { tags: [] }],
  ['null status', partial, { status: null }, { status: 'active' }],
  ['a whole array', partial, { tags: ['new'] }, { tags: ['new'] }],
  ['fields that are not known or not writable', partial, { id: 9, colour: 'red', createdAt: 'x' }, {}],
  ['one field', merge, { price: 10 }, { price: 10 }],
  ['null to remove', merge, { description: null, tags: null }, { description: null, tags: [] }],
  ['fields that are not known', merge, { colour: { deep: null } }, {}],
  ['replace', operations, [op('replace', '/price', 10)], { price: 10 }],
  ['no operation', operations, [], {}],
  [
    'add to an array',
    operations,
    [op('add', '/tags/-', 'new'), op('add', '/tags/0', 'first')],
    { tags: ['first', 'desk', 'wood', 'new'] },
  ],
  ['remove from an array', operations, [op('remove', '/tags/0')], { tags: ['wood'] }],
  ['remove a field', operations, [op('remove', '/description')], { description: null }],
  ['move', operations, [{ op: 'move', from: '/tags/0', path: '/tags/1' }], { tags: ['wood', 'desk'] }],
  ['copy', operations, [{ op: 'copy', from: '/name', path: '/description' }], { description: 'Lamp' }],
  [
    'test that matches, then replace',
    operations,
    [op('test', '/price', 12.5), op('replace', '/price', 1)],
    { price: 1 },
  ],
  ['test of an array', operations, [op('test', '/tags', ['desk', 'wood'])], {}],
  ['100 operations', operations, Array(100).fill(op('replace', '/price', 2)), { price: 2 }],
  ['a member that is not known', operations, [op('add', '/colour', 'red')], {}],
];

const refused: [name: string, type: string, patch: unknown, status: number, error: string][] = [
  ['a null name', partial, { name: null }, 400, 'VALIDATION_FAILED'],
  ['a null price', partial, { price: null }, 400, 'VALIDATION_FAILED'],
  ['a negative price', partial, { price: -1 }, 400, 'VALIDATION_FAILED'],
  ['an array', partial, [], 400, 'VALIDATION_FAILED'],
  ['U+0000', partial, { description: '\u0000' }, 400, 'VALIDATION_FAILED'],
  ['a removed name', merge, { name: null }, 400, 'VALIDATION_FAILED'],
  ['a wrong type', merge, { price: { amount: 1 } }, 400, 'VALIDATION_FAILED'],
  ['an array', merge, [1], 400, 'VALIDATION_FAILED'],
  ['null', merge, 'null', 400, 'VALIDATION_FAILED'],
  ['an object', operations, { price: 1 }, 400, 'MALFORMED_PATCH'],
  ['an unknown operation', operations, [op('increment', '/price', 1)], 400, 'MALFORMED_PATCH'],
  ['no path', operations, [{ op: 'remove' }], 400, 'MALFORMED_PATCH'],
  ['no value', operations, [{ op: 'add', path: '/price' }], 400, 'MALFORMED_PATCH'],
  ['no from', operations, [{ op: 'move', path: '/price' }], 400, 'MALFORMED_PATCH'],
  ['a path without its slash', operations, [op('replace', 'price', 1)], 400, 'MALFORMED_PATCH'],
  ['a bad escape', operations, [op('replace', '/~2', 1)], 400, 'MALFORMED_PATCH'],
  ['101 operations', operations, Array(101).fill(op('replace', '/price', 2)), 400, 'MALFORMED_PATCH'],
  ['an operation that is a number', operations, [1], 400, 'MALFORMED_PATCH'],
  [
    'a test that fails',
    operations,
    [op('replace', '/price', 1), op('test', '/name', 'Chair')],
    409,
    'PATCH_TEST_FAILED',
  ],
  ['a test of what is not there', operations, [op('test', '/colour', 'red')], 409, 'PATCH_PATH_NOT_FOUND'],
  [
    'a replace of what is not there',
    operations,
    [op('replace', '/colour', 'red')],
    409,
    'PATCH_PATH_NOT_FOUND',
  ],
  ['a remove past the end', operations, [op('remove', '/tags/2')], 409, 'PATCH_PATH_NOT_FOUND'],
  ['an add past the end', operations, [op('add', '/tags/3', 'x')], 409, 'PATCH_PATH_NOT_FOUND'],
  ['an index with a leading zero', operations, [op('replace', '/tags/00', 'x')], 409, 'PATCH_PATH_NOT_FOUND'],
  [
    'an inherited member',
    operations,
    [op('test', '/constructor/name', 'Object')],
    409,
    'PATCH_PATH_NOT_FOUND',
  ],
  ['a negative price', operations, [op('replace', '/price', -1)], 422, 'PATCH_RESULT_INVALID'],
  ['a removed name', operations, [op('remove', '/name')], 422, 'PATCH_RESULT_INVALID'],
  ['another id', operations, [op('replace', '/id', 999)], 422, 'PATCH_RESULT_INVALID'],
  ['a removed createdAt', operations, [op('remove', '/createdAt')], 422, 'PATCH_RESULT_INVALID'],
  ['another document', operations, [op('replace', '', [])], 422, 'PATCH_RESULT_INVALID'],
  ['U+0000', operations, [op('replace', '/name', 'a\u0000')], 422, 'PATCH_RESULT_INVALID'],
  ['a body of another type', 'application/xml', '<price>1</price>', 415, 'UNSUPPORTED_MEDIA_TYPE'],
];

describeOnDatabases('PATCH of a product on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(applied)('applies %s as %s', async (name, type, body, changed) => {
    const before = await addProduct(service, start);
    service.clock.advance(10);
    const headers = { 'Content-Type': type };
    const request = { method: 'PATCH', path: pathOf(before), as: 'editor', headers, body } as const;
    const after = await play(service, { name, ...request, status: 200 });
    expect(after.body).toEqual(whole({ ...before, ...changed, updatedAt: nowOf(service) }));
    const found = await read(service, before);
    expect(found.text).toBe(after.text);
    expect(found.headers.get('ETag')).toBe(after.headers.get('ETag'));
  });

  test.each(refused)('refuses %s as %s', async (name, type, body, status, error) => {
    const before = await addProduct(service, start);
    const headers = { 'Content-Type': type };
    const request = { method: 'PATCH', path: pathOf(before), as: 'editor', headers, body } as const;
    const response = await play(service, { name, ...request, status, error });
    const formats = [partial, merge, operations].join(', ');
    expect(response.headers.get('Accept-Patch')).toBe(status === 415 ? formats : null);
  });
});
