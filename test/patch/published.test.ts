/** Published cases of RFC 6902, RFC 7396 and RFC 6901. */
import { describe, expect, test } from 'bun:test';
import { applyJsonPatch, applyMergePatch, type Json } from '../../src/http/patch/documents.ts';
import { conformance } from '../support/http/conformance.ts';
import { refusal } from '../support/http/patches.ts';

/** The content of a published file, or undefined where the folder is absent. */
async function published<Content>(...segments: string[]): Promise<Content | undefined> {
  const path = conformance(...segments);
  // The boundary with the published files: each describes its own format in the type argument.
  return path === undefined ? undefined : ((await Bun.file(path).json()) as Content);
}

/** A file of another form than is expected would be a file without cases. */
const expectMany = (cases: readonly unknown[], least: number) =>
  test('the published files contain cases', () => expect(cases.length).toBeGreaterThanOrEqual(least));

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
      expectMany(cases, 15);
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
    expectMany(groups, 5);
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
    expectMany(section.cases, 10);
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
    const cases = groups.flatMap(group => group.tests);
    expectMany(cases, 20);
    for (const { description, data, valid } of cases) {
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
