/** The machine-checkable rules about code in ARCHITECTURE.md and CONTRIBUTING.md. */
import { expect, test } from 'bun:test';
import { functionsOf } from './functions.ts';
import {
  bareCodeIn,
  codeIn,
  commentsOf,
  files,
  filesOf,
  findings,
  read,
  tokensIn,
  tokensOf,
  within,
} from './source.ts';
import { schemas, verbs } from './verbs.ts';

/** Files of resources/, operations/ and media/ that begin their own transactions, because no request is involved. */
const ownTransactions: Readonly<Record<string, string>> = {
  'src/resources/index.ts': 'removes what has lapsed, at intervals',
  'src/resources/images/files.ts': 'removes files that nothing uses, at intervals',
  'src/resources/orders/payments.ts': 'refunds payments of cancelled orders, as the provider answers',
  'src/resources/orders/timeouts.ts': 'ends orders that were not paid in time',
  'src/resources/keys/store.ts': 'notes when a key was last used, after the response',
};

test('endpoints write through the transaction of their request, which confirms the caller', () => {
  const wrong =
    /\b(database|db)\s*(\?\.|\.)\s*(write|exclusively)\b|\{[^{}]*\b(write|exclusively)\b[^{}]*\} = (database|db)\b/g;
  const served = files.filter(file => /^src\/(resources|operations|media)\//.test(file));
  const found = findings(served, bareCodeIn, wrong);
  expect(found.filter(line => !((line.split(':')[0] ?? '') in ownTransactions))).toEqual([]);
  const unused = Object.keys(ownTransactions).filter(
    file => !found.some(line => line.startsWith(`${file}:`)),
  );
  expect(unused).toEqual([]);
});

test('handlers of endpoints destructure their argument, or pass it on whole as `context`', () => {
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
  const served = files.filter(file => /^src\/(resources|operations|media)\//.test(file));
  expect(served.flatMap(file => wrong(read(file)).map(text => `${file}: ${text}`))).toEqual([]);
});

test('only the command line reads the environment, in any spelling', () => {
  const wrong =
    /\bprocess\s*(\?\.)?\s*(\.\s*env\b|\[)|= process\b(?!\.)|\bfrom '(node:)?process'|\b(Bun|import\.meta)\.env\b/g;
  const spellings = [
    'process.env.A',
    "process['env']",
    'const { env } = process;',
    "import { env } from 'node:process'",
  ];
  expect(spellings.filter(text => text.search(wrong) < 0)).toEqual([]);
  expect(
    findings(
      files.filter(file => !within('cli')(file)),
      codeIn,
      wrong,
    ),
  ).toEqual([]);
});

test('no comment and no `any` silences the compiler', () => {
  expect(findings(files, read, /@ts-(ignore|expect-error|nocheck)/g)).toEqual([]);
  expect(findings(files, bareCodeIn, /((\bas|[:<|])\s*any\b(?!\s*[:=(.?])|,\s*any\b(?=[>\]]))/g)).toEqual([]);
});

/** Module-level collections and literals that are changed, or that are empty and not typed as read-only. */
function stateOf(code: string): string[] {
  const empty =
    /^(?:export )?const \w+(?:: (?!Readonly|readonly )[^=]+?)? =\s+(?:new (?:Map|Set|WeakMap|WeakSet)\b[^;(]*\(\)|\{\}|\[\]);/gm;
  const collections = code.matchAll(
    /^(?:export )?const (\w+)(?:: [^=]+?)? =\s+(?:new (?:Map|Set|WeakMap|WeakSet)\b|\{|\[)/gm,
  );
  const changed = [...collections].flatMap(([, name = '']) => {
    const use = new RegExp(
      `^.*((?<![.\\w])${name}\\.(set|add|delete|clear|push|pop|shift|unshift|splice|sort|fill)\\(|(\\+\\+|--|delete )${name}[.[]|(?<![.\\w])${name}(\\.\\w+|\\[[^\\]]*\\])+ ?([-+*/|&?]*=(?![=>])|\\+\\+|--)).*$`,
      'gm',
    );
    return [...code.matchAll(use)].map(([line]) => line.trim());
  });
  const variables = code.matchAll(
    /^(?:export )?(?:let|var) .*$|^ +static (?!readonly\b|async\b)\w+ ?[:=].*$/gm,
  );
  return [...[...variables, ...code.matchAll(empty)].map(([line]) => line), ...changed];
}

test('no module keeps state', () => {
  const kept = [
    'let count = 0;',
    'const seen = new Map<string, number>();',
    'const seen: WeakSet<object> = new WeakSet();',
    'const list: string[] = [];',
    'const state = { count: 0 };\nexport const see = () => ++state.count;',
    'const state = { count: 0 };\nfunction see() {\n  state.count += 1;\n}',
    'const names = new Set([1]);\nfunction see() {\n  names.add(2);\n}',
    'class A {\n  static count = 0;\n}',
  ];
  expect(kept.filter(text => stateOf(text).length !== 1)).toEqual([]);
  expect(stateOf('const none: readonly string[] = [];\nconst names = new Set([1]);')).toEqual([]);
  expect(files.flatMap(file => stateOf(bareCodeIn(file)).map(line => `${file}: ${line}`))).toEqual([]);
});

test('every cast has a Boundary comment within the 8 lines above it', () => {
  const unnamed = files.flatMap(file => {
    const boundaries = commentsOf(read(file)).flatMap(({ text, line }) =>
      /\bBoundary\b/.test(text) ? [line] : [],
    );
    const code = bareCodeIn(file).replaceAll(/^(import|export)\b[^;=(]*?(\bfrom\b|\};)/gm, text =>
      text.replaceAll(/[^\n]/g, ' '),
    );
    return findings([file], () => code, /^.*\bas (?!const\b)[\w{(['].*$/gm).filter(found => {
      const line = Number(found.split(':')[1]);
      return !boundaries.some(above => above <= line && line - above <= 8);
    });
  });
  expect(unnamed).toEqual([]);
});

test('scenarios for both databases use describeOnDatabases, so that they also run without PostgreSQL', () => {
  const tests = filesOf('test/**/*.test.ts');
  expect(findings(tests, read, /(each\((\[\.\.\.)?|of )databaseKinds\b/g)).toEqual([]);
  const unguarded = tests.filter(file => {
    const needsPostgres = /\b(createDatabase|createCluster)\(/.test(read(file));
    return needsPostgres && !/\b(hasPostgres|describeOnDatabases|NoPostgres)\b/.test(read(file));
  });
  expect(unguarded).toEqual([]);
});

test('tests await promises themselves, because matchers that await can hang', () => {
  const wrong = /\.\s*(?:rejects|resolves)\s*\.|\.toThrow\w*\(.*\bawait\b|expect\(async\b/g;
  expect(findings(filesOf('test/**/*.ts'), bareCodeIn, wrong)).toEqual([]);
});

test('only storage/ contains SQL of a particular dialect', () => {
  const spoken =
    /dialect\.name\s*[!=]==|\b(json_each|json_extract|jsonb_\w+|unnest|string_to_array|sqlite_\w+|rowid|ilike)\b|::(text|integer|jsonb|bigint)\b|\bpragma\b/i;
  const broken = files
    .filter(file => !within('storage')(file))
    .filter(file => {
      const statements = read(file).match(/\bsql(<[^`]*>)?`[^`]*`|\braw\([^;]*;|dialect\.name.*/g) ?? [];
      return (
        statements.some(statement => spoken.test(statement)) ||
        /\bsql as \w|= sql;|\b(kind|name) [!=]== '(sqlite|postgresql)'/.test(codeIn(file))
      );
    });
  expect(broken).toEqual([]);
});

test('only buildErrorDetail writes the pointers of errors', () => {
  const wrong = /\bpointer: ['`]#|['`]#\/(?!components\/|\$defs\/)(?=[\w$])|['`]~[01]['`](?=\))/g;
  const written = ["pointer: '#'", "'#/sku'", '`#/items/', ".replaceAll('~', '~0')"];
  expect(written.filter(text => text.search(wrong) < 0)).toEqual([]);
  const others = files.filter(file => file !== 'src/http/errors.ts');
  expect(findings(others, codeIn, wrong)).toEqual([]);
});

/** Calls that declare something, such as an endpoint or a metric. Their lines count for no function. */
const tables = ['createEndpoint', 'createBulkEndpoint', 'formatFamily'];

/** The longest functions, including nested ones: these must not grow, and no other may exceed `maxClosureLines`. */
const maxClosureLines = 150;
const closures: Readonly<Record<string, number>> = {
  'src/app.ts createApp': 211,
  'src/events/dispatcher.ts createDispatcher': 185,
  'src/resources/crud/index.ts createCrudEndpoints': 153,
  'src/resources/images/endpoints.ts createImageEndpoints': 173,
  'src/resources/orders/endpoints.ts createOrderEndpoints': 177,
  'src/storage/columns/index.ts createColumns': 161,
};

const functions = files.flatMap(file =>
  functionsOf(tokensIn(file), tables).map(found => ({ ...found, file, where: `${file} ${found.name}` })),
);

test('functions are found in every spelling', () => {
  const body = ['    a();', '    b();', '  }'];
  const spellings = {
    'function see(a: number): { b: number } {': body,
    'export const see = (a: A): Promise<void> => {': body,
    'const see = () => ({': ['  a,', '  b,', '});'],
    'const see = (a: number) =>': ['  a +', '  b +', '  c;'],
    'class A { override see(): void {': body,
    'class A { private see<T>({ a }: T) {': body,
    'const a = { async *see() {': body,
    'wrap(async function* () {': body,
  };
  const found = Object.entries(spellings).map(([head, rest]) => [
    head,
    functionsOf(tokensOf([head, ...rest].join('\n')))[0]?.own,
  ]);
  expect(found).toEqual(Object.keys(spellings).map(head => [head, 4]));
  const nested = ['function outer() {', '  const inner = () => {', '    a();', '  };', '  b();', '}'].join(
    '\n',
  );
  expect(functionsOf(tokensOf(nested)).map(({ own, whole }) => [own, whole])).toEqual([
    [3, 6],
    [3, 3],
  ]);
  expect(functions.length).toBeGreaterThan(4000);
});

test('a function has at most 60 lines, without nested functions and declarations of endpoints or metrics', () => {
  const long = functions.filter(({ own }) => own > 60);
  expect(long.map(({ where, line, own }) => `${where}, line ${line}: ${own} lines`)).toEqual([]);
});

test('a function has at most 150 lines with nested functions, and the listed exceptions do not grow', () => {
  const long = functions.filter(({ whole }) => whole > maxClosureLines);
  const grown = long.filter(({ where, whole }) => whole > (closures[where] ?? maxClosureLines));
  expect(grown.map(({ where, whole }) => `${where}: ${whole} lines`)).toEqual([]);
  expect(Object.keys(closures).filter(name => !long.some(({ where }) => where === name))).toEqual([]);
});

/** Functions with the same name in several files, because they do the same for each database or each resource. */
const parallels: ReadonlySet<string> = new Set(
  `buildConditions buildEventsSince buildIdsSince connect createSession createTransaction deferIndexes flushFolder restoreIndexes
  translate requireVisible`.split(/\s+/),
);
/** Exported functions whose name another file uses for something else. Do not add to this list. */
const usedTwice: ReadonlySet<string> = new Set(
  `computeScore createProductReader createStandardOutput detectFormat generateTiers
  readCategories splitPath toMembers`.split(/\s+/),
);

/** The functions that are not nested in another, once for each overload. */
const topmost = functions.flatMap(({ name, file, line, whole }) => {
  const lines = read(file)
    .split('\n')
    .slice(line - 1, line - 1 + whole);
  const head = new RegExp(`^(export )?(?:async )?(?:function\\*?|const) ${name}\\b`).exec(lines[0] ?? '');
  const text = lines.join('\n').replace(/^export /, '');
  return name === '' || head === null ? [] : [{ name, file, text, isExported: head[1] !== undefined }];
});
const namesakes = [...Map.groupBy(topmost, ({ name }) => name)].flatMap(([name, all]) => {
  const places = [...new Set(all.map(({ file }) => file))];
  return places.length > 1 ? [{ name, all, places }] : [];
});
const describeNamesakes = (wrong: typeof namesakes) =>
  wrong.map(({ name, places }) => `${name}: ${places.join(', ')}`);

test('no exported function shares its name with a function of another file, except for listed names', () => {
  expect(topmost.filter(({ isExported }) => isExported).length).toBeGreaterThan(800);
  expect(topmost.length).toBeGreaterThan(1800);
  const shared = namesakes.filter(({ all }) => all.some(({ isExported }) => isExported));
  expect(
    describeNamesakes(shared.filter(({ name }) => !parallels.has(name) && !usedTwice.has(name))),
  ).toEqual([]);
  const isShared = (name: string) => shared.some(other => other.name === name);
  expect([...parallels, ...usedTwice].filter(name => !isShared(name))).toEqual([]);
  const twiceExported = shared.filter(({ all }) => all.filter(({ isExported }) => isExported).length > 1);
  expect(describeNamesakes(twiceExported.filter(({ name }) => !parallels.has(name)))).toEqual([]);
});

test('no function is written twice', () => {
  const same = namesakes.filter(({ all }) => new Set(all.map(({ text }) => text)).size < all.length);
  expect(describeNamesakes(same)).toEqual([]);
});

test('names of declared functions begin with a verb', () => {
  const isDeclared = ({ file, line, name }: (typeof functions)[number]): boolean =>
    name !== '' &&
    new RegExp(`\\b(?:function\\*?|const) ${name}\\b`).test(read(file).split('\n')[line - 1] ?? '');
  const declared = functions.filter(isDeclared);
  expect(declared.length).toBeGreaterThan(2500);
  const wrong = declared.filter(
    ({ file, name }) => !verbs.has(/^[a-z]+/.exec(name)?.[0] ?? '') && schemas[file]?.includes(name) !== true,
  );
  expect(wrong.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  const named = new Set(declared.map(({ file, name }) => `${file}: ${name}`));
  const listed = Object.entries(schemas).flatMap(([file, names]) => names.map(name => `${file}: ${name}`));
  expect(listed.filter(name => !named.has(name))).toEqual([]);
});
