/** The import rules of ARCHITECTURE.md: which files may import which. */
import { expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { circlesOf, type Import, imports, importsOf } from './imports.ts';
import { codeIn, files, filesOf, within } from './source.ts';

const inResources = within('resources');
const ofHttp = within('http');
const ofStorage = within('storage');
const ofOneDatabase = (path: string) => within('storage/sqlite')(path) || within('storage/postgres')(path);

/** Files of resources/ with queries that may still import values of http/, and why. */
const queriesWithHttp: Readonly<Record<string, string>> = {
  'src/resources/auth/credentials.ts': 'refuses credentials that have ended, which the transaction finds',
  'src/resources/categories/images.ts': 'refuses an image that no product has, which the query finds',
  'src/resources/orders/reservations.ts': 'refuses orders of more than there is, which the locked rows show',
};

/** Modules that several resources share, which declare endpoints for the resources that import them. */
const sharedEndpoints = /^src\/resources\/(crud|authored)\//;

const isQuery = /\.(selectFrom|insertInto|updateTable|replaceInto|deleteFrom)\(|\bsql(<[^`]*>)?`/;
const queries = new Set(files.filter(file => inResources(file) && isQuery.test(codeIn(file))));

/** The files of resources/ that declare endpoints of their own. */
const declaring = new Set(
  files.filter(
    file =>
      inResources(file) &&
      !sharedEndpoints.test(file) &&
      (file.endsWith('/endpoints.ts') || /\bendpoint\(/.test(codeIn(file))),
  ),
);

const outermost = ['src/app.ts', 'src/listen.ts', 'src/service.ts', 'src/main.ts'];

/** The rules: their texts, and whether an import breaks them. */
const rules: Readonly<Record<string, (edge: Import) => boolean>> = {
  'http/ and storage/ import nothing from resources/': ({ from, to }) =>
    (ofHttp(from) || ofStorage(from)) && inResources(to),
  'storage/ imports nothing from http/': ({ from, to }) => ofStorage(from) && ofHttp(to),
  'code of one database is imported only by service.ts, settings/ and the code that copies, checks and restores it':
    ({ from, to }) =>
      ofOneDatabase(to) &&
      !ofStorage(from) &&
      !/^src\/service\.ts$|^src\/settings\/|^src\/cli\/(backup|check|copy)\//.test(from),
  'the code of neither database imports the code of the other': ({ from, to }) =>
    ofOneDatabase(from) && ofOneDatabase(to) && from.split('/')[2] !== to.split('/')[2],
  'a file with queries imports only types from http/': ({ from, to, typeOnly }) =>
    queries.has(from) && ofHttp(to) && !typeOnly && !(from in queriesWithHttp),
  'only resources/index.ts imports endpoints from other folders': ({ from, to }) =>
    declaring.has(to) && from !== 'src/resources/index.ts' && dirname(from) !== dirname(to),
  'app.ts, listen.ts, service.ts and main.ts are imported by the command line and each other': ({
    from,
    to,
  }) => outermost.includes(to) && !outermost.includes(from) && !within('cli')(from),
};

test('imports are found in every spelling', () => {
  const spellings = [
    "import { a } from '../b.ts';",
    "import type { A } from '../b.ts';",
    'export * from "../b.ts";',
    "import '../b.ts';",
    "const b = await import('../b.ts');",
    "const made = new Worker(new URL('../b.ts', import.meta.url));",
  ];
  const found = spellings.map(text => importsOf('src/a/a.ts', text).map(({ to }) => to));
  expect(found).toEqual(spellings.map(() => ['src/b.ts']));
});

test('the rules see the imports, queries and endpoints of the program', () => {
  expect(imports.length).toBeGreaterThan(1000);
  expect(queries.size).toBeGreaterThan(20);
  expect(declaring.size).toBeGreaterThan(20);
});

for (const [rule, isBroken] of Object.entries(rules)) {
  test(rule, () => {
    expect(imports.filter(isBroken).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });
}

test('each exception is used', () => {
  const unused = Object.keys(queriesWithHttp).filter(
    file =>
      !queries.has(file) ||
      !imports.some(({ from, to, typeOnly }) => from === file && ofHttp(to) && !typeOnly),
  );
  expect(unused).toEqual([]);
});

test('imports form no cycle, not even imports of types', () => {
  const [a, b] = ['src/a.ts', 'src/b.ts'];
  const both = [
    { from: a, to: b, typeOnly: true, isThread: false },
    { from: b, to: a, typeOnly: false, isThread: false },
  ];
  expect(circlesOf(both)).toEqual([[a, b]]);
  expect(circlesOf(imports)).toEqual([]);
});

test('a folder has at most a dozen files', () => {
  const all = [...files, ...filesOf('{test,bench,scripts,fuzz}/**/*')];
  expect(all.length).toBeGreaterThan(900);
  const folders = Map.groupBy(
    all.filter(file => !within('storage/migrations')(file)),
    file => dirname(file),
  );
  const large = [...folders].filter(([, members]) => members.length > 12);
  expect(large.map(([folder, members]) => `${folder}: ${members.length}`)).toEqual([]);
});
