/** The import rules of ARCHITECTURE.md, and the rules of style that a machine can check. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';
import { functionsOf } from './support/functions.ts';

const root = join(import.meta.dir, '..');
const files = [...new Glob('src/**/*.ts').scanSync({ cwd: root })].sort();

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await Bun.file(join(root, file)).text();
  const found = text.matchAll(
    /^(?:import|export)\s+(type\s+)?[^'"]*?from\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  );
  return [...found].map(([, type, path, loaded]) => ({
    from: file,
    to: normalize(join(dirname(file), path ?? loaded ?? '')),
    typeOnly: type !== undefined,
  }));
}

/** The files that import one another in a circle; those of each circle in one list. */
function circlesOf(edges: readonly Import[]): string[][] {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const reached = new Map<string, Set<string>>();
  for (const start of targets.keys()) {
    const seen = new Set<string>();
    for (const open = [start]; open.length > 0; ) {
      for (const { to } of targets.get(open.pop() ?? '') ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        open.push(to);
      }
    }
    reached.set(start, seen);
  }
  const isMutual = (a: string, b: string) =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const circles = [...reached.keys()].map(a => [...reached.keys()].filter(b => isMutual(a, b)));
  return [
    ...new Map(circles.filter(circle => circle.length > 0).map(circle => [circle[0] ?? '', circle])).values(),
  ];
}

const imports = (await Promise.all(files.map(importsOf))).flat();
const within = (folder: string) => (path: string) => path.startsWith(`src/${folder}/`);

/** The text without comments and quoted strings. */
async function codeOf(file: string): Promise<string> {
  const text = await Bun.file(join(root, file)).text();
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\\n]|\\.)*'/gm, '');
}

test('the rules below look at imports that exist', () => {
  expect(imports.length).toBeGreaterThan(100);
});

test('no file imports itself through others, not even its types', () => {
  const [a, b] = ['src/a.ts', 'src/b.ts'];
  const both = [
    { from: a, to: b, typeOnly: true },
    { from: b, to: a, typeOnly: false },
  ];
  expect(circlesOf(both)).toEqual([[a, b]]);
  expect(circlesOf(imports)).toEqual([]);
});

test('a folder has at most a dozen files', () => {
  const folders = Map.groupBy(
    files.filter(file => !within('storage/migrations')(file)),
    file => dirname(file),
  );
  const large = [...folders].filter(([, members]) => members.length > 12);
  expect(large.map(([folder, members]) => `${folder}: ${members.length}`)).toEqual([]);
});

test('http/ and storage/ import nothing from resources/', () => {
  const inner = (path: string) => within('http')(path) || within('storage')(path);
  expect(imports.filter(({ from, to }) => inner(from) && within('resources')(to))).toEqual([]);
});

test('outside storage/, nothing depends on how a database is kept: only copies and repairs of its file do', () => {
  const allowed = /^src\/(service|config)\.ts$|^src\/cli\/(backup|check)\//;
  const own = (path: string) => within('storage/sqlite')(path) || within('storage/postgres')(path);
  const broken = imports.filter(({ from, to }) => own(to) && !within('storage')(from) && !allowed.test(from));
  expect(broken).toEqual([]);
  const siblings = imports.filter(
    ({ from, to }) =>
      (within('storage/sqlite')(from) && within('storage/postgres')(to)) ||
      (within('storage/postgres')(from) && within('storage/sqlite')(to)),
  );
  expect(siblings).toEqual([]);
});

test('storage/ imports nothing from http/', () => {
  expect(imports.filter(({ from, to }) => within('storage')(from) && within('http')(to))).toEqual([]);
});

test('a store sees HTTP only as types', () => {
  const stores = imports.filter(({ from }) => within('resources')(from) && from.endsWith('/store.ts'));
  expect(stores.filter(({ to, typeOnly }) => within('http')(to) && !typeOnly)).toEqual([]);
});

test('a resource never imports the endpoints of another', () => {
  const broken = imports.filter(
    ({ from, to }) =>
      within('resources')(from) && from !== 'src/resources/index.ts' && to.endsWith('/endpoints.ts'),
  );
  expect(broken).toEqual([]);
});

test('only app.ts, service.ts and the command line see everything', () => {
  const outer = ['src/app.ts', 'src/listen.ts', 'src/service.ts', 'src/main.ts'];
  const broken = imports.filter(
    ({ from, to }) => outer.includes(to) && !outer.includes(from) && !within('cli')(from),
  );
  expect(broken).toEqual([]);
});

test('endpoints write through the transaction of their request, which confirms the caller', async () => {
  const endpoints = files
    .filter(within('resources'))
    .filter(file => /(endpoints|actions|webhook)\.ts$/.test(file));
  expect(endpoints.length).toBeGreaterThan(15);
  const broken: string[] = [];
  for (const file of endpoints) {
    if (/\bdatabase\s*\.(write|exclusively)\b/.test(await codeOf(file))) broken.push(file);
  }
  expect(broken).toEqual([]);
});

test('handlers of endpoints take their argument apart, or hand the whole on as `context`', async () => {
  const wrong = (text: string): string[] => {
    const heads = [...text.matchAll(/^ *(?:async )?handle(?:\((.*)\) \{|: (.*?) =>.*)$/gm)];
    const blocks = text.matchAll(/^( *)(?:async )?handle\(context\) \{\n([\s\S]*?)\n\1\},$/gm);
    return [
      ...heads.flatMap(([head, named, ofArrow]) =>
        /^(|\(\)|context|\{.*\})$/.test(named ?? ofArrow ?? '') ? [] : [head],
      ),
      ...[...blocks].flatMap(([, , body = '']) =>
        /\bcontext\./.test(body) || !/\bcontext\b/.test(body.replace('} = context;', '')) ? [body] : [],
      ),
    ];
  };
  const handler = (argument: string, ...body: string[]) =>
    wrong([`  handle(${argument}) {`, ...body, '  },'].join('\n')).length;
  expect(handler('context', 'const { a } = context;', 'return f(a, context);')).toBe(0);
  expect(handler('context', 'return f(context.a, context);')).toBe(1);
  expect(handler('context', 'const { a } = context;', 'return f(a);')).toBe(1);
  expect(handler('input', 'return f(input);')).toBe(1);
  const found: string[] = [];
  for (const file of files.filter(file => /^src\/(resources|operations|media)\//.test(file)))
    for (const text of wrong(await Bun.file(join(root, file)).text())) found.push(`${file}: ${text}`);
  expect(found).toEqual([]);
});

test('process.env is read by the command line only', async () => {
  const readers: string[] = [];
  for (const file of files) {
    const code = await codeOf(file);
    if (/process\.env|Bun\.env|import\.meta\.env/.test(code)) readers.push(file);
  }
  expect(readers.filter(file => !within('cli')(file))).toEqual([]);
});

test('every file begins by saying what it is for, and stays readable', async () => {
  const broken: string[] = [];
  for (const file of files) {
    const text = await Bun.file(join(root, file)).text();
    if (!text.startsWith('/**')) broken.push(`${file}: no header`);
    const lines = text.split('\n').length;
    if (lines > 310) broken.push(`${file}: ${lines} lines`);
  }
  expect(broken).toEqual([]);
});

test('a file of tests has at most 300 lines', () => {
  const files = [...new Glob('test/**/*.test.ts').scanSync({ cwd: root })];
  expect(files.length).toBeGreaterThan(100);
  const long = files.filter(file => readFileSync(join(root, file), 'utf8').split('\n').length > 301);
  expect(long).toEqual([]);
});

test('nothing silences the compiler or keeps state in a module', async () => {
  const broken: string[] = [];
  for (const file of files) {
    const text = await Bun.file(join(root, file)).text();
    const code = await codeOf(file);
    if (/@ts-(ignore|expect-error|nocheck)/.test(text) || /\bas any\b|: any\b/.test(code)) {
      broken.push(`${file}: type check silenced`);
    }
    if (/^(export )?(let|var) /m.test(code)) broken.push(`${file}: state in the module`);
  }
  expect(broken).toEqual([]);
});

test('scenarios for both databases go on without PostgreSQL: describeOnDatabases, not a loop over the kinds', () => {
  const files = [...new Glob('test/**/*.test.ts').scanSync({ cwd: root })];
  const loops = files.filter(file =>
    /(each\((\[\.\.\.)?|of )databaseKinds\b/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(loops).toEqual([]);
  const needsPostgres = (text: string) => /\b(createDatabase|createCluster)\(/.test(text);
  const unguarded = files.filter(file => {
    const text = readFileSync(join(root, file), 'utf8');
    return needsPostgres(text) && !/\b(hasPostgres|describeOnDatabases|NoPostgres)\b/.test(text);
  });
  expect(unguarded).toEqual([]);
});

test('decisions and migrations are numbered without holes', () => {
  for (const [folder, ending] of [
    ['docs/decisions', '.md'],
    ['src/storage/migrations', '.ts'],
  ] as const) {
    const numbered = [...new Glob(`[0-9]*${ending}`).scanSync({ cwd: join(root, folder) })].sort();
    expect(numbered.length).toBeGreaterThan(10);
    expect(numbered.map(name => Number(name.slice(0, 4)))).toEqual(numbered.map((_, index) => index + 1));
  }
});

/** Tables: lists of endpoints, which are declarations. */
const isTable = /function \w+(Endpoints|Actions)\b/;

test('a function has at most 60 lines of its own, without those of the functions inside it', async () => {
  const sample = ['function outer() {', '  const inner = () => {', '    a();', '  };', '  b();', '}'].join(
    '\n',
  );
  expect(functionsOf(sample).map(({ own }) => own)).toEqual([3, 3]);
  const long: string[] = [];
  for (const file of files) {
    for (const { line, name, own } of functionsOf(await Bun.file(join(root, file)).text())) {
      if (own > 60 && !isTable.test(name)) long.push(`${file}:${line}: ${own} lines`);
    }
  }
  expect(long).toEqual([]);
});

test('the dialects of SQL are spoken in storage/ only', async () => {
  const spoken =
    /dialect\.name\s*[!=]==|\b(json_each|json_extract|jsonb_\w+|unnest|string_to_array|sqlite_\w+|rowid|ilike)\b|::(text|integer|jsonb|bigint)\b|\bpragma\b/i;
  const broken: string[] = [];
  for (const file of files.filter(file => !within('storage')(file))) {
    const statements =
      (await Bun.file(join(root, file)).text()).match(/sql(<[^`]*>)?`[^`]*`|dialect\.name.*/g) ?? [];
    if (statements.some(statement => spoken.test(statement))) broken.push(file);
  }
  expect(broken).toEqual([]);
});

const folders = ['src', 'test', 'docs', 'scripts', 'bench', 'fuzz', 'examples', 'client', 'deploy'];
const patterns = ['*', ...folders.map(folder => `${folder}/**/*`)];
const tracked = patterns
  .flatMap(pattern => [...new Glob(pattern).scanSync({ cwd: root, dot: true })])
  .filter(path => !path.includes('node_modules'));

test('files that comments name exist', async () => {
  const missing: string[] = [];
  for (const file of files) {
    const text = await Bun.file(join(root, file)).text();
    const comments = text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)?.join('\n') ?? '';
    for (const [name] of comments.matchAll(/(?<![\w/:.-])[\w-][\w./-]*\.(ts|md|mjs|css)\b/g)) {
      const path = name.startsWith('.') ? normalize(join(dirname(file), name)) : name;
      if (!tracked.some(other => other === path || other.endsWith(`/${path}`)))
        missing.push(`${file}: ${name}`);
    }
    for (const [name] of comments.matchAll(/docs\/decisions\/\d{4}/g)) {
      if (!tracked.some(other => other.startsWith(name))) missing.push(`${file}: ${name}`);
    }
  }
  expect(missing).toEqual([]);
});

test('the tree in ARCHITECTURE.md is the tree', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const tree = text.slice(text.indexOf('```\nsrc/'), text.indexOf('## The route'));
  const names = [...tree.matchAll(/(?<![\w./<-])([\w-]+(?:\/[\w-]+)*(?:\.ts|\/))(?![\w<])/g)].map(
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThan(60);
  const isThere = (name: string) => tracked.some(path => path === name || `/${path}`.includes(`/${name}`));
  expect(names.filter(name => !isThere(name))).toEqual([]);
  const sources = new Set(
    files.map(file => dirname(file).split('/').slice(1, 3).join('/')).filter(folder => folder !== ''),
  );
  const shown = (folder: string) => names.some(name => `/${name}`.endsWith(`/${folder.split('/').at(-1)}/`));
  const perResource = /^resources\//;
  expect([...sources].filter(folder => !perResource.test(folder) && !shown(folder))).toEqual([]);
});
