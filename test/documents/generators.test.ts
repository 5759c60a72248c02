/** The document as generators of code read it: what some of them cannot express, or make wrong types of. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';

interface Part {
  readonly [member: string]: unknown;
}

const document: Part = await Bun.file(join(import.meta.dir, '..', '..', 'openapi.json')).json();

/** All objects of the document, with their places; examples are values, not schemas. */
function findParts(value: unknown, place: string): readonly (readonly [place: string, part: Part])[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.entries(value)
    .filter(([name]) => name !== 'example' && name !== 'examples')
    .flatMap(([name, part]) => findParts(part, `${place}/${name}`));
  // Boundary: every object is a record.
  return Array.isArray(value) ? nested : [[place, value as Part], ...nested];
}

const parts = findParts(document, '#');
const placesOf = (isWrong: (part: Part) => boolean) =>
  parts.filter(([, part]) => isWrong(part)).map(([place]) => place);

test('no enumeration has null, of which some generators make a text', () => {
  const enumerations = parts.filter(([, part]) => Array.isArray(part.enum));
  expect(enumerations.length).toBeGreaterThan(50);
  expect(placesOf(part => [part.enum].flat().includes(null))).toEqual([]);
});

test('no enumeration has limits besides its values', () => {
  expect(placesOf(part => Array.isArray(part.enum) && ('minimum' in part || 'maximum' in part))).toEqual([]);
});

test('no schema has both named and other members, whose types TypeScript cannot declare together', () => {
  expect(placesOf(part => typeof part.additionalProperties === 'object')).not.toEqual([]);
  expect(placesOf(part => 'properties' in part && typeof part.additionalProperties === 'object')).toEqual([]);
});

test('no body has integers of 64 bits, which are BigInt in generated JavaScript', () => {
  expect(placesOf(part => part.format === 'int64')).toEqual([
    '#/components/headers/X-RateLimit-Reset/schema',
  ]);
});

test('no component is named like the index of a folder, or like another where case does not count', () => {
  const { schemas } = document.components as { readonly schemas: Part };
  const names = Object.keys(schemas).map(name => name.toLowerCase());
  expect(names).not.toContain('index');
  expect(new Set(names).size).toBe(names.length);
});
