/** Laws that hold for every document and patch. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import { applyJsonPatch, applyMergePatch, type Json } from '../../src/http/patch/documents.ts';
import { outcome, refusal } from '../support/http/patches.ts';

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

  test('a patch equals its operations applied one after the other', () => {
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
        expect(refusal(() => applyJsonPatch(document, failing)).status).toBeOneOf([400, 409]);
      }),
    );
  });

  test('a patch that another implementation generates turns one document into the other', () => {
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

  test('adding and then removing changes nothing', () => {
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

  test('a document without null members, as a merge patch, turns any value into itself', () => {
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
