/** Derives the files of a new resource from those of todos. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { capitalize, type Forms, renameCode, toForms } from './forms.ts';
import { type Names, Refused } from './names.ts';
import { checkLanguages, checkPlace, namesIn, type Place, variablesIn } from './words.ts';

const own = ['schema.ts', 'endpoints.ts', 'store.ts'];
const migrations = 'src/storage/migrations';
const tables = 'src/storage/tables.ts';
const resources = 'src/resources/index.ts';
const stores = 'src/resources/stores.ts';
const tags = 'src/http/openapi/text.ts';
const copied = 'src/cli/copy/tables.ts';

/**
 * The text of each new or changed file, by path. Nothing is written, so that a refusal leaves nothing behind.
 *
 * @throws Refused (1) if a name or a file already exists
 */
export function planResource(root: string, names: Names): ReadonlyMap<string, string> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const forms = toForms(names);
  const { plural } = names;
  if (existsSync(join(root, 'src/resources', plural)))
    throw new Refused(1, `"${plural}" is taken: there is a folder src/resources/${plural}`);
  checkLanguages(forms);
  for (const place of placesIn(read)) checkPlace(place, forms);
  const migration = migrationOf(root, plural);
  const made = newFiles(read, forms, migration);
  const existing = made.map(([path]) => path).find(path => existsSync(join(root, path)));
  if (existing !== undefined) throw new Refused(1, `"${plural}" is taken: there is a file ${existing}`);
  return new Map([...made, ...changedFiles(read, forms, migration)]);
}

type Read = (path: string) => string;

/** The places where names of todos appear among others; openapi.json, which is long, is read last. */
function* placesIn(read: Read): Iterable<Place> {
  const template = (path: string) => ({
    has: `${path} has a name`,
    words: variablesIn(read(path)),
    form: 'identifier' as const,
  });
  const shared = (path: string, part: RegExp) => ({
    has: `${path} has a name`,
    words: namesIn((read(path).match(part) ?? []).join('\n')),
    form: 'identifier' as const,
  });
  const payments = shared('src/ports/stripe.ts', /export function createStripePayments[\s\S]*?\n\}/);
  const parts = read(tables).match(/(?<=from '\.\/)tables\/\w+\.ts/g) ?? [];
  const isTable = /^ {2}\w+(?=: \{$)/gm;
  const named = [tables, ...parts.map(part => `src/storage/${part}`)].flatMap(
    path => read(path).match(isTable) ?? [],
  );
  yield { has: `${tables} has a table`, words: named.map(name => name.trim()), form: 'table' };
  yield shared(`${migrations}/index.ts`, /[\s\S]+/);
  // The stores of sales include those of Stripe, without naming them.
  yield { ...payments, has: `${stores} has a name`, words: [...namesIn(read(stores)), ...payments.words] };
  yield shared(resources, /[\s\S]+/);
  for (const file of own) yield template(`src/resources/todos/${file}`);
  yield* interfacePlaces(read('openapi.json'));
}

const document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  tags: z.array(z.object({ name: z.string() })),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});
const operation = z.object({ operationId: z.string() });

function interfacePlaces(text: string): Place[] {
  const { paths, tags, components } = document.parse(JSON.parse(text));
  const operations = Object.values(paths).flatMap(path => Object.values(path));
  const identifiers = operations.flatMap(value => operation.safeParse(value).data?.operationId ?? []);
  const firstSegments = Object.keys(paths).map(path => path.split('/').slice(0, 3).join('/'));
  return [
    { has: 'openapi.json has the path', words: firstSegments, form: 'path' },
    { has: 'openapi.json has the tag', words: tags.map(({ name }) => name), form: 'phrase' },
    { has: 'openapi.json has the operation', words: identifiers, form: 'identifier' },
    { has: 'openapi.json has the schema', words: Object.keys(components.schemas), form: 'identifier' },
  ];
}

/** The name of the migration and its file. A new table only expands the schema: replicas without it still serve. */
function migrationOf(root: string, plural: string): string {
  const numbers = readdirSync(join(root, migrations)).map(file => Number(/^\d{4}(?=-)/.exec(file)?.[0] ?? 0));
  return `${String(Math.max(...numbers) + 1).padStart(4, '0')}-expand-${plural}`;
}

function newFiles(read: Read, forms: Forms, migration: string): [path: string, text: string][] {
  const { path, identifier, phrase } = forms;
  const { plural } = path;
  // Operation ids are derived from the name if it is a single word.
  const id = phrase.singular === identifier.singular ? '' : `\n    id: '${capitalize(identifier.singular)}',`;
  const renamed = (text: string) =>
    renameCode(text, forms)
      .replaceAll('Order more lamps', `The first ${phrase.singular}`)
      .replace(`name: '${phrase.singular}',`, `$&${id}`)
      .replace(', plainErrors: true', '')
      .replace(" They have the specification's own envelopes, and its `{error}` for 400 and 404.", '');
  return [
    ...own.map((file): [string, string] => [
      `src/resources/${plural}/${file}`,
      renamed(read(`src/resources/todos/${file}`)),
    ]),
    [
      `${migrations}/${migration}.ts`,
      renamed(read(`${migrations}/0008-todos.ts`)).replaceAll(`0008-${plural}`, migration),
    ],
    [`test/resources/${plural}.test.ts`, testOf(forms)],
  ];
}

function changedFiles(read: Read, forms: Forms, migration: string): [path: string, text: string][] {
  const { plural } = forms.identifier;
  const listed = read(`${migrations}/index.ts`)
    .replace(
      "import type { Migration } from './migration.ts';\n",
      `import { ${plural} } from './${migration}.ts';\n$&`,
    )
    .replace(/\n\];/, `\n  ${plural},\n];`);
  const table = /^ {2}todos: \{[^}]*\};\n\n/m.exec(read(tables))?.[0];
  if (table === undefined) throw new Error(`${tables} has no table todos`);
  const tag = capitalize(forms.phrase.plural);
  const described = `  ${/ /.test(tag) ? `'${tag}'` : tag}: 'Private to the user who creates them.',`;
  const changed = (path: string, isLine: RegExp, line = (old: string) => renameCode(old, forms)) =>
    addLines(path, read(path), isLine, line);
  return [
    [`${migrations}/index.ts`, listed],
    [tables, read(tables).replace(table, `${table}${table.replace('todos', forms.table.plural)}`)],
    changed(resources, /\bcreateTodoEndpoints\b/),
    changed(stores, /\bcreateTodoStore\b/),
    changed(tags, /^ {2}Todos: /, () => described),
    changed(copied, /^ {2}todos: \['id'\],$/, () => `  ${forms.table.plural}: ['id'],`),
  ];
}

/** Adds a line for the new resource after each line of todos. */
function addLines(
  path: string,
  text: string,
  isLine: RegExp,
  line: (old: string) => string,
): [string, string] {
  const lines = text.split('\n');
  if (!lines.some(old => isLine.test(old))) throw new Error(`${path} has no line of todos to add one after`);
  return [path, lines.flatMap(old => (isLine.test(old) ? [old, line(old)] : [old])).join('\n')];
}

const testOf = ({ path: { plural }, phrase }: Forms): string =>
  `/** ${capitalize(phrase.plural)}: which users make and see them. What all resources have in common is in contract.test.ts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('${phrase.plural} on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('one is there for the user who made it, and for nobody else', async () => {
    const body = { title: 'The first' };
    const made = await call(service, { method: 'POST', path: '/v1/${plural}', as: 'user', body });
    expect([made.status, made.body.data.title]).toEqual([201, 'The first']);
    const path = \`/v1/${plural}/\${made.body.data.id}\`;
    expect((await call(service, { path, as: 'user' })).body).toEqual(made.body);
    expect((await call(service, { path, as: 'admin' })).status).toBe(404);
    expect((await call(service, { path: '/v1/${plural}' })).status).toBe(401);
  });
});
`;
