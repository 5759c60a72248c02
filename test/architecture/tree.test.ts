/** Files named in ARCHITECTURE.md, documents and comments exist; no file is too long; each begins with its purpose. */
import { expect, test } from 'bun:test';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';
import { commentsOf, files, filesOf, read } from './source.ts';
import { compareTree } from './tree.ts';

const folders = ['src', 'test', 'docs', 'scripts', 'bench', 'fuzz', 'examples', 'client', 'deploy', '.ci'];
const tracked = filesOf('*', ...folders.map(folder => `${folder}/**/*`));

/** All files, and all folders with a trailing slash. */
const paths = new Set(
  tracked.flatMap(path => {
    const parts = path.split('/');
    return [path, ...parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)];
  }),
);

/** Folders whose files must all be named in the tree. */
const named = ['src', 'src/http', 'src/storage', 'src/events'];

test('the tree in ARCHITECTURE.md matches the files', () => {
  const { shown, wrong } = compareTree(paths, read('ARCHITECTURE.md'));
  expect(shown.size).toBeGreaterThan(120);
  expect(wrong).toEqual([]);
  // resources/index.ts is the list of resources.
  const inSource = [...paths].filter(path => path.startsWith('src/') && path.endsWith('/'));
  const missing = inSource.filter(path => !/^src\/(resources\/[^/]+\/)?$/.test(path) && !shown.has(path));
  expect(missing).toEqual([]);
  expect(files.filter(file => named.includes(dirname(file)) && !shown.has(file))).toEqual([]);
});

test('a tree that names a file in the wrong folder is refused', () => {
  const wrong = (line: string) => compareTree(paths, ['```', 'src/', line, '```'].join('\n')).wrong.length;
  expect(
    ['  main.ts   the program', '  http/   (quota/), conditional.ts', '  pool.ts   connections'].map(wrong),
  ).toEqual([0, 0, 1]);
  expect(wrong('  storage/   index.ts')).toBe(1);
});

/** Names in documents and comments that are made up, or belong to files beside the repository. */
const madeUp = new Set(['src/a.ts', 'test/a.test.ts', '../shared/specification.md']);

/** All suffixes by which texts may name a file: `src/http/cors.ts`, `http/cors.ts`, `cors.ts`. */
const ends = new Set(
  tracked.flatMap(path => {
    const parts = path.split('/');
    return parts.map((_, index) => parts.slice(index).join('/'));
  }),
);

/** A name, or a pattern such as `storage/b*.ts` or `{sqlite,postgres}/index.ts`. */
const names =
  /(?<![\w/:.*<>{},$-])(?:\.{1,2}\/)*(?:[\w*-]|\{[\w.,*-]+\})(?:[\w./*-]|\{[\w.,*-]+\})*\.(?:ts|mts|md|mjs|css)\b/g;

/** The files that a text names, and that exist neither by suffix nor relative to its folder; also missing decisions. */
function missingIn(file: string, text: string): string[] {
  const found = [...text.matchAll(names)].map(([name]) => name);
  const isThere = (name: string) => {
    const near = normalize(join(dirname(file), name));
    if (madeUp.has(name) || paths.has(near) || ends.has(name)) return true;
    if (!/[*{]/.test(name)) return false;
    const patterns = [new Glob(near), new Glob(`**/${name}`)];
    return tracked.some(path => patterns.some(pattern => pattern.match(path)));
  };
  const decisions = [...text.matchAll(/docs\/decisions\/\d{4}/g)].map(([name]) => name);
  return [
    ...found.filter(name => !isThere(name)),
    ...decisions.filter(name => !tracked.some(path => path.startsWith(name))),
  ].map(name => `${file}: ${name}`);
}

test('names and patterns that match no file are found', () => {
  const missing = (text: string) => missingIn('src/storage/open.ts', text).length;
  expect(
    ['sqlite/index.ts', 'storage/b*.ts', '{sqlite,postgres}/index.ts', 'group-*.ts', '*.test.ts'].map(
      missing,
    ),
  ).toEqual([0, 0, 0, 0, 0]);
  expect(['sqlite-*.ts', 'sqlite-index.ts', 'storage/b*.css', '{a,b}/index.ts'].map(missing)).toEqual([
    1, 1, 1, 1,
  ]);
});

test('files that comments name exist', () => {
  const code = filesOf(
    ...['src', 'test', 'bench', 'scripts', 'fuzz', 'client', 'examples'].map(
      folder => `${folder}/**/*.{ts,mjs,js}`,
    ),
  );
  const comments = (file: string) =>
    commentsOf(read(file))
      .map(({ text }) => text)
      .join('\n');
  expect(code.flatMap(file => missingIn(file, comments(file)))).toEqual([]);
});

test('files that documents name exist', () => {
  const documents = tracked.filter(path => path.endsWith('.md'));
  expect(documents.length).toBeGreaterThan(40);
  expect(documents.flatMap(file => missingIn(file, read(file)))).toEqual([]);
});

test('every file begins with a comment', () => {
  const all = [...files, ...filesOf('test/**/*.ts')];
  expect(all.filter(file => !/^\/\*\*(?!\s*\*\/)/.test(read(file)))).toEqual([]);
});

test('a file has at most 300 lines', () => {
  const isLong = (file: string) => read(file).trimEnd().split('\n').length > 300;
  expect([...files, ...filesOf('test/**/*.ts')].filter(isLong)).toEqual([]);
});

test('decisions and migrations are numbered without gaps', () => {
  for (const pattern of ['docs/decisions/[0-9]*.md', 'src/storage/migrations/[0-9]*.ts']) {
    const numbers = filesOf(pattern).map(path => Number(path.split('/').at(-1)?.slice(0, 4)));
    expect(numbers.length).toBeGreaterThan(10);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }
});
