/**
 * Every regular expression of src/ takes time linear in the length of the text: a text from outside may be 1 MB long,
 * and all callers wait while one is matched. scslre finds polynomial and exponential backtracking, and expressions that
 * restart at each character of a run. It needs no native program, and takes milliseconds for all expressions.
 */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import jsTokens from 'js-tokens';
import { analyse } from 'scslre';
import * as z from 'zod/v4/core';

const root = join(import.meta.dir, '..');

interface Literal {
  /** Such as `src/money.ts:12`. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** The regular expression literals of a source text. */
function literalsOf(file: string, text: string): Literal[] {
  const found: Literal[] = [];
  let line = 1;
  for (const { type, value } of jsTokens(text)) {
    const end = value.lastIndexOf('/');
    if (type === 'RegularExpressionLiteral') {
      found.push({ where: `${file}:${line}`, source: value.slice(1, end), flags: value.slice(end + 1) });
    }
    line += value.split('\n').length - 1;
  }
  return found;
}

/** The ways in which matching takes more than linear time: "src/a.ts:1 /a+a+/ with runs of a". */
function faultsOf({ where, source, flags }: Literal): string[] {
  const reportTypes = { Move: true, Self: true, Trade: true };
  const { reports } = analyse({ source, flags }, { reportTypes });
  return reports.map(
    ({ character }) => `${where} /${source}/${flags} with runs of ${character.literal.source}`,
  );
}

const files = [...new Glob('src/**/*.ts').scanSync({ cwd: root })].sort();
const literals = files.flatMap(file => literalsOf(file, readFileSync(join(root, file), 'utf8')));

test.each([
  ['two quantifiers that share a run', String.raw`const isNo = /^\s*(false|0|)\s*$/i.test(text);`],
  ['a beginning at each character of a run', String.raw`text.split(/\s*,\s*/)`],
  ['an optional separator', String.raw`const decimal = /^(\d+\.?\d*|\.\d+)$/;`],
  ['an end that is looked for from each beginning', String.raw`text.replace(/\/+$/, '')`],
  ['nested quantifiers', 'return /^(a+)+$/'],
])('the check finds %s', (_, code) => {
  expect(literalsOf('code.ts', code).flatMap(faultsOf)).not.toEqual([]);
});

test('the check finds the literals between comments, strings, templates and divisions', () => {
  const code = [
    'const a = b / c / d; // /x/',
    `const s = '/y/' + \`/z/\${t.replace(/a/g, '')}\`;`,
    'if (/b/u.test(s)) {}',
  ].join('\n');
  expect(literalsOf('code.ts', code)).toEqual([
    { where: 'code.ts:2', source: 'a', flags: 'g' },
    { where: 'code.ts:3', source: 'b', flags: 'u' },
  ]);
  expect(literals.length).toBeGreaterThan(50);
});

test('no regular expression of the service backtracks', () => {
  expect(literals.flatMap(faultsOf)).toEqual([]);
});

test('regular expressions are literals, except for two with a computed character class', () => {
  const built = files.filter(file => readFileSync(join(root, file), 'utf8').includes('new RegExp('));
  expect(built).toEqual(['src/files/spreadsheet.ts', 'src/storage/search/text/folded.ts']);
});

test("no regular expression of Zod's formats backtracks", () => {
  const formats = Object.entries(z.regexes).filter(
    (entry): entry is [string, RegExp] => entry[1] instanceof RegExp,
  );
  expect(formats.length).toBeGreaterThan(20);
  const faults = formats.flatMap(([where, { source, flags }]) => faultsOf({ where, source, flags }));
  expect(faults).toEqual([]);
});
