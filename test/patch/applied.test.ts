/** Patches that apply, and names that are no names of the language. */
import { describe, expect, test } from 'bun:test';
import { applyJsonPatch, applyMergePatch, type Json } from '../../src/http/patch/documents.ts';
import { refusal } from '../support/http/patches.ts';

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

  test('an object that the document contains twice changes in one place only', () => {
    const part = { a: 1 };
    const patch = [{ op: 'replace', path: '/0/a', value: 2 }];
    expect(applyJsonPatch([part, part], patch)).toEqual([{ a: 2 }, { a: 1 }]);
  });

  test('100 operations are accepted', () => {
    const patch = Array.from({ length: 100 }, () => ({ op: 'add', path: '/-', value: 0 }));
    expect(applyJsonPatch([], patch)).toHaveLength(100);
  });
});

describe('names with a meaning in JavaScript are ordinary names', () => {
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
