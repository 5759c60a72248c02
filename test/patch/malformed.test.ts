/** Patches that are refused for what they are, whatever they are applied to. */
import { describe, expect, test } from 'bun:test';
import { applyJsonPatch, type Json } from '../../src/http/patch/documents.ts';
import { refusal } from '../support/http/patches.ts';

describe('the error for a malformed JSON Patch names every problem', () => {
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

test('the message says what is wrong with the first operation, and counts further problems', () => {
  const messageOf = (...patch: unknown[]) => refusal(() => applyJsonPatch({ a: 1 }, patch)).message;
  const add = { op: 'add', path: '/a' };
  expect(messageOf(add)).toBe('Operation 0: "value" is required.');
  expect(messageOf(add, add, add)).toBe('Operation 0: "value" is required. (and 2 more, see details)');
});

describe('copies that grow exponentially are refused', () => {
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

test('copies of too many values are refused before they are made; copies of the largest product are not', () => {
  const doubled = Array.from({ length: 100 }, () => ({ op: 'copy', from: '/tags', path: '/tags/-' }));
  const error = refusal(() => applyJsonPatch({ tags: ['a', 'b', 'c'] }, doubled));
  // By then there are as many lists in lists as 2 to the power of this.
  const index = Number(error.details?.[0]?.pointer.split('/')[1]);
  expect([error.details?.[0]?.code, index < 15]).toEqual(['maxCopied', true]);
  const values = Array.from({ length: 50 }, (_, place) => `value ${place}`);
  const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`key${key}`, values]));
  const copies = ['/b', '/c', '/d'].map(path => ({ op: 'copy', from: '/attributes', path }));
  expect(applyJsonPatch({ attributes }, copies)).toEqual({
    attributes,
    b: attributes,
    c: attributes,
    d: attributes,
  });
});
