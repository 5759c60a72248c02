/** Definitions that several parts of the document share: described once, with a description of its own for each use. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { operations } from '../support/http/operations.ts';

interface Part {
  readonly [member: string]: unknown;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Part>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Part>>>>;
}

const { paths, components }: Document = await Bun.file(
  join(import.meta.dir, '..', '..', 'openapi.json'),
).json();
const declared = Object.values(paths).flatMap(item =>
  Object.values(item).filter(part => 'operationId' in part),
);

test('each HAL schema extends its JSON schema with _links', () => {
  const inHal = Object.entries(components.schemas ?? {}).filter(
    ([name, { allOf }]) => name.endsWith('Hal') && allOf !== undefined,
  );
  expect(inHal.length).toBeGreaterThan(10);
  for (const [name, { allOf }] of inHal) {
    expect(allOf).toBeArrayOfSize(2);
    // Boundary: the form of the document; anything else fails below.
    const [base, added] = allOf as readonly Part[];
    expect(base).toEqual({ $ref: `#/components/schemas/${name.replace(/Hal$/, '')}` });
    expect([name, Object.keys(added?.properties ?? {})]).toEqual([name, expect.arrayContaining(['_links'])]);
  }
});

test('204 responses share one component', () => {
  const empty = declared
    .flatMap(({ responses }) => Object.entries(responses ?? {}))
    .filter(([status]) => status === '204');
  expect(empty.length).toBeGreaterThan(10);
  for (const [, { $ref, description }] of empty)
    expect([$ref, description]).toEqual(['#/components/responses/NoContent', expect.stringMatching(/\w/)]);
  expect(components.responses?.NoContent?.content).toBeUndefined();
});

test('error codes of all operations are declared once, in EveryPath', () => {
  const common = components.pathItems?.EveryPath?.['x-errors'];
  expect(common).toEqual([
    'INVALID_HOST',
    'VALIDATION_FAILED',
    'METHOD_NOT_ALLOWED',
    'NOT_ACCEPTABLE',
    'INTERNAL_ERROR',
  ]);
  expect(declared.length).toBe(operations.length);
  for (const { operationId, 'x-errors': own } of declared) {
    expect([operationId, own]).toEqual([operationId, expect.any(Array)]);
    expect([own].flat().filter(code => [common].flat().includes(code))).toEqual([]);
  }
});
