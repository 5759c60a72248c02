import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import { type ErrorCode, HttpError } from '../src/http/errors.ts';
import { applyJsonPatch, applyMergePatch, type Json } from '../src/http/patch.ts';
import { conformance } from './support/conformance.ts';

/** Runs `patch` and returns its HttpError; fails on any other outcome. */
function refusal(patch: () => unknown): HttpError {
  try {
    patch();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('the patch was applied');
}

/** The result of a patch, or the code of its refusal: two outcomes that can be compared. */
function outcome(patch: () => Json): { result: Json } | { code: ErrorCode } {
  try {
    return { result: patch() };
  } catch (error) {
    if (error instanceof HttpError) return { code: error.code };
    throw error;
  }
}

/** JSON nested `levels` deep, made as text because that is how it arrives. */
function nested(levels: number): Json {
  return JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
}

/** The content of a published file, or undefined where the folder is absent. */
async function published<Content>(...segments: string[]): Promise<Content | undefined> {
  const path = conformance(...segments);
  // The boundary with the published files: each describes its own format in the type argument.
  return path === undefined ? undefined : ((await Bun.file(path).json()) as Content);
}

describe('published cases', () => {
  interface PatchCase {
    comment?: string;
    doc: Json;
    patch: Json;
    expected?: Json;
    error?: string;
    disabled?: boolean;
  }

  for (const name of ['tests.json', 'spec_tests.json']) {
    describe(`json-patch-tests/${name}`, async () => {
      const cases = await published<PatchCase[]>('json-patch-tests', name);
      if (cases === undefined) return test.skip('the folder is absent', () => {});
      for (const [index, { doc, patch, ...entry }] of cases.entries()) {
        if (entry.disabled) continue;
        test(`${index}: ${entry.comment ?? entry.error ?? JSON.stringify(patch)}`, () => {
          const before = structuredClone(doc);
          if (entry.error !== undefined)
            expect(refusal(() => applyJsonPatch(doc, patch)).status).toBeOneOf([400, 409]);
          else if (entry.expected === undefined) applyJsonPatch(doc, patch);
          else expect(applyJsonPatch(doc, patch)).toStrictEqual(entry.expected);
          expect(doc).toStrictEqual(before);
        });
      }
    });
  }

  describe('RFC 7396 appendix A', async () => {
    interface Group {
      given: Json;
      cases: { patch: Json; result: Json }[];
    }
    const groups = await published<Group[]>(
      ...['merge-patch-rfc7396', 'test', 'mergepatch', 'input', 'compliance', 'rfc7396-test-cases.json'],
    );
    if (groups === undefined) return test.skip('the folder is absent', () => {});
    for (const { given, cases } of groups) {
      for (const { patch, result } of cases) {
        test(`${JSON.stringify(given)} with ${JSON.stringify(patch)}`, () => {
          expect(applyMergePatch(given, patch)).toStrictEqual(result);
        });
      }
    }
  });

  describe('RFC 6901 section 5', async () => {
    interface Section {
      document: Json;
      cases: { pointer: string; value: Json }[];
    }
    const section = await published<Section>('json-pointer', 'rfc6901-section5.json');
    if (section === undefined) return test.skip('the folder is absent', () => {});
    for (const { pointer, value } of section.cases) {
      test(JSON.stringify(pointer), () => {
        const patch = [{ op: 'test', path: pointer, value }];
        expect(applyJsonPatch(section.document, patch)).toStrictEqual(section.document);
      });
    }
  });

  describe('JSON Pointer syntax', async () => {
    type Groups = { tests: { description: string; data: Json; valid: boolean }[] }[];
    const groups = await published<Groups>('json-pointer', 'syntax-json-pointer.json');
    if (groups === undefined) return test.skip('the folder is absent', () => {});
    for (const { description, data, valid } of groups.flatMap(group => group.tests)) {
      // The format says nothing about what is not a string; a patch does.
      if (typeof data !== 'string') continue;
      test(`${description}: ${JSON.stringify(data)}`, () => {
        // Nothing is there: a pointer that is understood is not found, one that is not is malformed.
        const { code } = refusal(() => applyJsonPatch(null, [{ op: 'remove', path: data }]));
        expect(code).toBe(valid ? 'PATCH_PATH_NOT_FOUND' : 'MALFORMED_PATCH');
      });
    }
  });
});

describe('a malformed JSON Patch names every problem', () => {
  const remove = { op: 'remove', path: '/a' };
  const scenarios: { name: string; patch: unknown; problems: string[] }[] = [
    { name: 'an object', patch: remove, problems: ['# type'] },
    { name: 'null', patch: null, problems: ['# type'] },
    { name: 'nothing', patch: undefined, problems: ['# type'] },
    {
      name: 'too many operations',
      patch: Array.from({ length: 101 }, () => remove),
      problems: ['# maxItems'],
    },
    { name: 'no objects', patch: [null, [], 'x'], problems: ['#/0 type', '#/1 type', '#/2 type'] },
    { name: 'an empty operation', patch: [{}], problems: ['#/0/op required', '#/0/path required'] },
    { name: 'an unknown op', patch: [{ ...remove, op: 'spam' }], problems: ['#/0/op enum'] },
    { name: 'an inherited op', patch: [{ ...remove, op: 'toString' }], problems: ['#/0/op enum'] },
    { name: 'an op in capitals', patch: [{ ...remove, op: 'REMOVE' }], problems: ['#/0/op enum'] },
    { name: 'a path without slash', patch: [{ op: 'remove', path: 'a' }], problems: ['#/0/path format'] },
    { name: 'a path that is no string', patch: [{ op: 'remove', path: 1 }], problems: ['#/0/path format'] },
    { name: 'a bare tilde', patch: [{ op: 'remove', path: '/a~' }], problems: ['#/0/path format'] },
    { name: 'a bad escape', patch: [{ op: 'remove', path: '/~2' }], problems: ['#/0/path format'] },
    { name: 'no value', patch: [{ op: 'add', path: '/a' }], problems: ['#/0/value required'] },
    { name: 'no from', patch: [{ op: 'move', path: '/a' }], problems: ['#/0/from required'] },
    { name: 'a null from', patch: [{ op: 'copy', path: '/a', from: null }], problems: ['#/0/from format'] },
    {
      name: 'a deep value',
      patch: [{ op: 'add', path: '/a', value: nested(100_000) }],
      problems: ['#/0/value maxDepth'],
    },
    {
      name: 'several at once, after a good one',
      patch: [remove, { op: 'test', path: '~' }, { op: 'copy', from: 'b' }],
      problems: ['#/1/path format', '#/1/value required', '#/2/from format', '#/2/path required'],
    },
  ];
  test.each(scenarios)('$name', ({ patch, problems }) => {
    const error = refusal(() => applyJsonPatch({ a: 1 }, patch));
    expect(error.code).toBe('MALFORMED_PATCH');
    expect(error.details?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(problems);
  });
});

describe('a JSON Patch that cannot be applied names the operation and the path', () => {
  const document: Json = { a: { b: 1 }, list: ['x', 'y'], text: 'abc' };
  const keep = { op: 'test', path: '/text', value: 'abc' };
  const scenarios: { name: string; operation: Record<string, Json>; code: ErrorCode; member?: 'from' }[] = [
    {
      name: 'test: other value',
      operation: { op: 'test', path: '/a/b', value: 2 },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: other type',
      operation: { op: 'test', path: '/a/b', value: '1' },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: array for object',
      operation: { op: 'test', path: '/a', value: [1] },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: more members',
      operation: { op: 'test', path: '/a', value: { b: 1, c: 2 } },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: fewer members',
      operation: { op: 'test', path: '/a', value: {} },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: other order',
      operation: { op: 'test', path: '/list', value: ['y', 'x'] },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: inherited member',
      operation: { op: 'test', path: '/a', value: JSON.parse('{"__proto__":1}') },
      code: 'PATCH_TEST_FAILED',
    },
    {
      name: 'test: missing',
      operation: { op: 'test', path: '/none', value: null },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: missing parent',
      operation: { op: 'add', path: '/none/x', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: parent is text',
      operation: { op: 'add', path: '/text/0', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: beyond the end',
      operation: { op: 'add', path: '/list/3', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: leading zero',
      operation: { op: 'add', path: '/list/01', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: negative index',
      operation: { op: 'add', path: '/list/-1', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: exponent',
      operation: { op: 'add', path: '/list/1e0', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: empty index',
      operation: { op: 'add', path: '/list/', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'add: huge index',
      operation: { op: 'add', path: `/list/${'9'.repeat(400)}`, value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    { name: 'remove: missing', operation: { op: 'remove', path: '/none' }, code: 'PATCH_PATH_NOT_FOUND' },
    { name: 'remove: the document', operation: { op: 'remove', path: '' }, code: 'PATCH_PATH_NOT_FOUND' },
    {
      name: 'remove: after the last',
      operation: { op: 'remove', path: '/list/-' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'remove: length',
      operation: { op: 'remove', path: '/list/length' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'remove: leading zero',
      operation: { op: 'remove', path: '/list/00' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'replace: missing',
      operation: { op: 'replace', path: '/none', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'replace: after the last',
      operation: { op: 'replace', path: '/list/-', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'replace: not a number',
      operation: { op: 'replace', path: '/list/x', value: 1 },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'move: missing source',
      operation: { op: 'move', from: '/none', path: '/x' },
      code: 'PATCH_PATH_NOT_FOUND',
      member: 'from',
    },
    {
      name: 'move: into itself',
      operation: { op: 'move', from: '/a', path: '/a/b' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'move: document into itself',
      operation: { op: 'move', from: '', path: '/a' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'move: beyond the shortened end',
      operation: { op: 'move', from: '/list/0', path: '/list/2' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'move: missing target',
      operation: { op: 'move', from: '/a', path: '/none/x' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
    {
      name: 'copy: missing source',
      operation: { op: 'copy', from: '/list/2', path: '/x' },
      code: 'PATCH_PATH_NOT_FOUND',
      member: 'from',
    },
    {
      name: 'copy: missing target',
      operation: { op: 'copy', from: '/a', path: '/none/x' },
      code: 'PATCH_PATH_NOT_FOUND',
    },
  ];
  test.each(scenarios)('$name', ({ operation, code, member = 'path' }) => {
    const before = structuredClone(document);
    const error = refusal(() =>
      applyJsonPatch(document, [
        { op: 'add', path: '/list/-', value: 'z' },
        { op: 'remove', path: '/list/2' },
        keep,
        operation,
      ]),
    );
    expect(error.code).toBe(code);
    expect(error.status).toBe(409);
    expect(error.message).toContain('Operation 3');
    expect(error.message).toContain(JSON.stringify(operation[member]));
    expect(error.details?.map(({ pointer }) => pointer)).toEqual([`#/3/${member}`]);
    expect(document).toEqual(before);
  });
});

describe('a JSON Patch that applies', () => {
  const scenarios: { name: string; document: Json; patch: Json; result: Json }[] = [
    { name: 'no operations', document: { a: 1 }, patch: [], result: { a: 1 } },
    {
      name: 'unknown members',
      document: {},
      patch: [{ op: 'add', path: '/a', value: 1, why: '' }],
      result: { a: 1 },
    },
    {
      name: 'add over the document',
      document: { a: 1 },
      patch: [{ op: 'add', path: '', value: [] }],
      result: [],
    },
    {
      name: 'replace the document',
      document: 1,
      patch: [{ op: 'replace', path: '', value: null }],
      result: null,
    },
    {
      name: 'move over the document',
      document: { a: [1] },
      patch: [{ op: 'move', from: '/a', path: '' }],
      result: [1],
    },
    {
      name: 'move the document nowhere',
      document: { a: 1 },
      patch: [{ op: 'move', from: '', path: '' }],
      result: { a: 1 },
    },
    {
      name: 'copy the document into itself',
      document: { a: 1 },
      patch: [{ op: 'copy', from: '', path: '/b' }],
      result: { a: 1, b: { a: 1 } },
    },
    {
      name: 'move to a name it begins',
      document: { a: 1 },
      patch: [{ op: 'move', from: '/a', path: '/ab' }],
      result: { ab: 1 },
    },
    {
      name: 'the target of a move is counted after the removal',
      document: [[1], [2], [3]],
      patch: [{ op: 'move', from: '/0', path: '/1/0' }],
      result: [[2], [[1], 3]],
    },
    {
      name: 'append, twice',
      document: [1],
      patch: [
        { op: 'add', path: '/-', value: 2 },
        { op: 'add', path: '/2', value: 3 },
      ],
      result: [1, 2, 3],
    },
    {
      name: 'names with / and ~',
      document: { 'a/b': 1, '~1': 2 },
      patch: [
        { op: 'remove', path: '/a~1b' },
        { op: 'test', path: '/~01', value: 2 },
      ],
      result: { '~1': 2 },
    },
    {
      name: 'numbers as names',
      document: {},
      patch: [{ op: 'add', path: '/01', value: 1 }],
      result: { '01': 1 },
    },
    {
      name: 'test ignores order of names',
      document: { a: 1, b: [{ c: null, d: 0 }] },
      patch: [{ op: 'test', path: '', value: { b: [{ d: -0, c: null }], a: 1.0 } }],
      result: { a: 1, b: [{ c: null, d: 0 }] },
    },
  ];
  test.each(scenarios)('$name', ({ document, patch, result }) => {
    expect(applyJsonPatch(document, patch)).toStrictEqual(result);
  });

  test('changes neither the document nor the patch, and a copy is independent of its source', () => {
    const document: Json = { list: [] };
    const patch: Json = [
      { op: 'add', path: '/made', value: { list: [] } },
      { op: 'copy', from: '/made', path: '/copy' },
      { op: 'add', path: '/made/list/-', value: 1 },
      { op: 'add', path: '/list/-', value: 2 },
    ];
    const before = structuredClone([document, patch]);
    expect(applyJsonPatch(document, patch)).toEqual({ list: [2], made: { list: [1] }, copy: { list: [] } });
    expect([document, patch]).toEqual(before);
  });

  test('a part that occurs twice in the document changes in one place', () => {
    const part = { a: 1 };
    const patch = [{ op: 'replace', path: '/0/a', value: 2 }];
    expect(applyJsonPatch([part, part], patch)).toEqual([{ a: 2 }, { a: 1 }]);
  });

  test('100 operations are accepted', () => {
    const patch = Array.from({ length: 100 }, () => ({ op: 'add', path: '/-', value: 0 }));
    expect(applyJsonPatch([], patch)).toHaveLength(100);
  });
});

describe('copies that multiply are refused', () => {
  const scenarios: { name: string; document: Json; copy: { from: string; path: string } }[] = [
    { name: 'the document into itself', document: [0], copy: { from: '', path: '/-' } },
    { name: 'the document ever deeper', document: { a: { a: 0 } }, copy: { from: '', path: '/a' } },
    { name: 'one long text', document: { a: 'x'.repeat(100_000) }, copy: { from: '/a', path: '/b' } },
    {
      name: 'one long name',
      document: { a: { ['x'.repeat(100_000)]: 0 } },
      copy: { from: '/a', path: '/b' },
    },
  ];
  test.each(scenarios)('$name', ({ document, copy }) => {
    const patch = Array.from({ length: 100 }, () => ({ op: 'copy', ...copy }));
    const error = refusal(() => applyJsonPatch(document, patch));
    expect(error.code).toBe('MALFORMED_PATCH');
    expect(error.details?.[0]).toMatchObject({
      code: 'maxCopied',
      pointer: expect.stringMatching(/^#\/\d+\/from$/),
    });
  });
});

describe('names that mean something to the language are ordinary names', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
  const polluted = { polluted: true };

  /** Nothing was added to what every object inherits. */
  function expectClean(): void {
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(Reflect.get(Object, 'polluted')).toBeUndefined();
  }

  test.each(names)('JSON Patch: %s does not exist before it is added', name => {
    for (const document of [{}, [], { a: {} }]) {
      for (const operation of [
        { op: 'add', path: `/${name}/polluted`, value: true },
        { op: 'add', path: `/${name}/prototype/polluted`, value: true },
        { op: 'replace', path: `/${name}`, value: polluted },
        { op: 'remove', path: `/${name}` },
        { op: 'test', path: `/${name}`, value: polluted },
        { op: 'copy', from: `/${name}`, path: '/b' },
        { op: 'move', from: `/${name}`, path: '/b' },
      ]) {
        expect(refusal(() => applyJsonPatch(document, [operation])).code).toBe('PATCH_PATH_NOT_FOUND');
      }
    }
    expectClean();
  });

  test.each(names)('JSON Patch: %s added is an own member', name => {
    const patch = [
      { op: 'add', path: `/${name}`, value: polluted },
      { op: 'test', path: `/${name}/polluted`, value: true },
    ];
    const result = applyJsonPatch({}, patch);
    expect(JSON.stringify(result)).toBe(`{"${name}":{"polluted":true}}`);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(applyJsonPatch(result, [{ op: 'remove', path: `/${name}` }])).toStrictEqual({});
    expectClean();
  });

  test.each(names)('Merge Patch: %s is an own member', name => {
    const patch: Json = JSON.parse(`{"${name}":{"polluted":true}}`);
    for (const document of [{}, { a: 1 }, [], null]) {
      const result = applyMergePatch(document, patch);
      expect(Object.hasOwn(Object(result), name)).toBe(true);
      expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    }
    expect(applyMergePatch(applyMergePatch({}, patch), JSON.parse(`{"${name}":null}`))).toStrictEqual({});
    expectClean();
  });
});

test('a merge patch that nests too deep is refused', () => {
  const patch: Json = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  expect(refusal(() => applyMergePatch({}, patch)).code).toBe('MALFORMED_PATCH');
});

describe('laws', () => {
  const name = fc.oneof(fc.constantFrom('a', 'b', '', '0', '-', '~', '/', '~1', 'constructor'), fc.string());
  const { json, object } = fc.letrec<{ json: Json; object: { [key: string]: Json } }>(tie => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json[]>(null, true, false, 0, 1.5, '', 'a'),
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => number + 0),
      fc.array(tie('json'), { maxLength: 4 }),
      tie('object'),
    ),
    object: fc.dictionary(name, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  }));

  /** Every location in a document, as pointers. */
  function pointers(document: Json, prefix = ''): string[] {
    if (typeof document !== 'object' || document === null) return [prefix];
    const members = Object.entries(document);
    const escaped = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1');
    return [prefix, ...members.flatMap(([token, value]) => pointers(value, `${prefix}/${escaped(token)}`))];
  }

  /** A document and operations on locations that mostly are in it. */
  const documentAndPatch = json.chain(document => {
    const pointer = fc
      .tuple(fc.constantFrom(...pointers(document)), fc.constantFrom('', '', '', '/-', '/0', '/new'))
      .map(([known, rest]) => known + rest);
    const op = fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test');
    const operation = fc.record({ op, path: pointer, from: pointer, value: json });
    return fc.tuple(fc.constant(document), fc.array(operation, { maxLength: 6 }));
  });

  /** Removes, at every level of objects, the members a merge patch cannot set. */
  function withoutNulls(value: Json): Json {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
  }

  test('any input is applied or refused, and changes neither argument', () => {
    fc.assert(
      fc.property(fc.oneof(documentAndPatch, fc.tuple(json, json)), ([document, patch]) => {
        const before = structuredClone([document, patch]);
        outcome(() => applyJsonPatch(document, patch));
        outcome(() => applyMergePatch(document, patch));
        expect([document, patch]).toStrictEqual(before);
      }),
    );
  });

  test('a patch is its operations one after the other', () => {
    fc.assert(
      fc.property(documentAndPatch, ([document, patch]) => {
        const stepwise = () =>
          patch.reduce<Json>((value, operation) => applyJsonPatch(value, [operation]), document);
        expect(outcome(() => applyJsonPatch(document, patch))).toStrictEqual(outcome(stepwise));
      }),
    );
  });

  test('a patch that ends in a failing test is refused whatever went before', () => {
    fc.assert(
      fc.property(documentAndPatch, ([document, patch]) => {
        const failing = [...patch, { op: 'replace', path: '', value: 1 }, { op: 'test', path: '', value: 2 }];
        refusal(() => applyJsonPatch(document, failing));
      }),
    );
  });

  test('the difference of two documents, made by another implementation, leads from one to the other', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        expect(applyJsonPatch(from, createPatch(from, to))).toStrictEqual(to);
      }),
    );
  });

  test('every location can be read, replaced, tested and restored', () => {
    fc.assert(
      fc.property(json, json, (document, other) => {
        for (const path of pointers(document)) {
          const found = applyJsonPatch(document, [{ op: 'copy', from: path, path: '' }]);
          expect(applyJsonPatch(document, [{ op: 'move', from: path, path: '' }])).toStrictEqual(found);
          const restore = [
            { op: 'test', path, value: found },
            { op: 'replace', path, value: other },
            { op: 'test', path, value: other },
            { op: 'replace', path, value: found },
          ];
          expect(applyJsonPatch(document, restore)).toEqual(document);
        }
      }),
    );
  });

  test('to add and then remove changes nothing', () => {
    fc.assert(
      fc.property(object, json, (document, value) => {
        fc.pre(!Object.hasOwn(document, 'new'));
        const there = [
          { op: 'add', path: '/new', value },
          { op: 'remove', path: '/new' },
        ];
        expect(applyJsonPatch(document, there)).toStrictEqual(document);
      }),
    );
    fc.assert(
      fc.property(fc.array(json), fc.nat(), json, (document, position, value) => {
        const path = `/${position % (document.length + 1)}`;
        const there = [
          { op: 'add', path, value },
          { op: 'remove', path },
        ];
        expect(applyJsonPatch(document, there)).toStrictEqual(document);
      }),
    );
  });

  test('a merge patch applied twice is applied once', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(applyMergePatch(once, patch)).toStrictEqual(once);
      }),
    );
  });

  test('a document without null members is its own merge patch, and makes itself from anything', () => {
    fc.assert(
      fc.property(object, fc.oneof(fc.array(json), fc.string(), fc.constant({})), (any, other) => {
        const document = withoutNulls(any);
        expect(applyMergePatch(document, document)).toStrictEqual(document);
        expect(applyMergePatch(other, document)).toStrictEqual(document);
      }),
    );
  });

  test('the empty merge patch changes no object', () => {
    fc.assert(fc.property(object, document => expect(applyMergePatch(document, {})).toStrictEqual(document)));
  });
});
