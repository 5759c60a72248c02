/** The patterns of the document must work in engines of every kind, many of which do not support Unicode properties. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { createCategory } from '../../src/resources/categories/schema.ts';

type Node = Readonly<Record<string, unknown>>;

const committed: Node = await Bun.file(join(import.meta.dir, '..', '..', 'openapi.json')).json();

/** The patterns, each with the name of the member that it applies to. */
function patternsIn(node: unknown, name = ''): (readonly [name: string, pattern: string])[] {
  if (typeof node !== 'object' || node === null) return [];
  // Boundary: the document is JSON.
  const { pattern } = node as Node;
  const own = typeof pattern === 'string' ? [[name, pattern] as const] : [];
  return [...own, ...Object.entries(node).flatMap(([member, part]) => patternsIn(part, member))];
}

const patterns = patternsIn(committed);

test('no pattern uses Unicode properties', () => {
  expect(patterns.length).toBeGreaterThan(50);
  expect(patterns.filter(([, pattern]) => /\\p/i.test(pattern))).toEqual([]);
});

test('the slug pattern accepts every valid slug and refuses every invalid ASCII slug', () => {
  const [[, pattern] = ['', '']] = patterns.filter(([name]) => name === 'slug');
  // Without the u flag, like engines without Unicode properties.
  const described = new RegExp(pattern);
  const takes = (slug: string) => createCategory.safeParse({ name: 'Tables', slug }).success;
  const characters = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code));
  expect(characters.filter(one => !described.test(one) && takes(one))).toEqual([]);
  for (const text of [
    'a-b-2',
    'müller',
    '寝具',
    '-a',
    'a-',
    'a--b',
    'a b',
    'A',
    'aB',
    'a_b',
    'a.b',
    'a~',
    '',
  ])
    expect([text, described.test(text)]).toEqual([text, takes(text)]);
});
