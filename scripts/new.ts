/**
 * `npm run new -- resource NAME`: a resource that is served, described and tested at once. It has the shape of todos:
 * private to the user who makes it, with a title and whether it is done. Change its fields before it is released.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..');
const [kind, name = ''] = process.argv.slice(2);
if (kind !== 'resource' || !/^[a-z]{2,30}s$/.test(name)) {
  console.error(
    'Usage: npm run new -- resource NAME\n\nNAME is a plural of lower-case letters, as in notes.',
  );
  process.exit(2);
}
if (existsSync(join(root, 'src/resources', name))) {
  console.error(`new: there is already a resource ${name}`);
  process.exit(1);
}

const one = name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.slice(0, -1);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const written: string[] = [];
function write(path: string, text: string): void {
  writeFileSync(join(root, path), text);
  written.push(path);
}

/** The same text of the new resource. */
const renamed = (text: string): string =>
  text
    .replaceAll('todos', name)
    .replaceAll('Todos', capital(name))
    .replaceAll('todo', one)
    .replaceAll('Todo', capital(one));

/** Adds, after each line of todos, that of the new resource. */
function register(path: string, isLine: (line: string) => boolean, change = renamed): void {
  const lines = read(path).split('\n');
  if (!lines.some(isLine)) throw new Error(`${path} has no line of todos to add one after`);
  write(path, lines.flatMap(line => (isLine(line) ? [line, change(line)] : [line])).join('\n'));
}

mkdirSync(join(root, 'src/resources', name));
for (const file of ['schema.ts', 'endpoints.ts', 'store.ts']) {
  const text = renamed(read(`src/resources/todos/${file}`))
    .replace(', plainErrors: true', '')
    .replace(" They have the specification's own envelopes, and its `{error}` for 400 and 404.", '');
  write(`src/resources/${name}/${file}`, text);
}

const folder = 'src/storage/migrations';
const last = readdirSync(join(root, folder))
  .filter(file => /^\d{4}-/.test(file))
  .sort()
  .at(-1);
const number = String(Number(last?.slice(0, 4)) + 1).padStart(4, '0');
write(
  `${folder}/${number}-${name}.ts`,
  renamed(read(`${folder}/0008-todos.ts`)).replaceAll('0008-', `${number}-`),
);
const imported = `import { ${name} } from './${number}-${name}.ts';\n`;
write(
  `${folder}/index.ts`,
  read(`${folder}/index.ts`)
    .replace("import type { Migration } from './migration.ts';\n", `${imported}$&`)
    .replace(/\n\];/, `\n  ${name},\n];`),
);

const tables = 'src/storage/tables.ts';
const table = /(?:\/\*\*[^\n]*\n)?(?:export )?interface TodosTable \{[^}]*\}\n\n/.exec(read(tables))?.[0];
if (table === undefined) throw new Error(`${tables} has no TodosTable`);
write(tables, read(tables).replace(table, `${table}${renamed(table)}`));
register(tables, line => line === '  todos: TodosTable;');
register('src/resources/index.ts', line => /todoEndpoints/.test(line));
register('src/resources/stores.ts', line => /todoStore/.test(line));
register(
  'src/http/openapi/text.ts',
  line => line.startsWith('  Todos: '),
  () => `  ${capital(name)}: 'Private to the user who makes them.',`,
);

write(
  `test/resources/${name}.test.ts`,
  `/** ${capital(name)}: who makes and sees them. What all resources have in common is in contract.test.ts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeOnDatabases('${name} on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('one is there for the user who made it, and for nobody else', async () => {
    const body = { title: 'The first' };
    const made = await call(service, { method: 'POST', path: '/v1/${name}', as: 'user', body });
    expect([made.status, made.body.data.title]).toEqual([201, 'The first']);
    const path = \`/v1/${name}/\${made.body.data.id}\`;
    expect((await call(service, { path, as: 'user' })).body).toEqual(made.body);
    expect((await call(service, { path, as: 'admin' })).status).toBe(404);
    expect((await call(service, { path: '/v1/${name}' })).status).toBe(401);
  });
});
`,
);

for (const path of written) console.log(path);
console.log(`\nNow change its fields, and run: npm run format && npm run openapi && npm run client`);
