/** JSON Patches that are well-formed and cannot be applied. */
import { describe, expect, test } from 'bun:test';
import type { ErrorCode } from '../../src/http/errors.ts';
import { applyJsonPatch, type Json } from '../../src/http/patch/documents.ts';
import { refusal } from '../support/http/patches.ts';

describe('the error for a JSON Patch that cannot be applied names the operation and the path', () => {
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
