/** Statements of the documents that a machine can check: settings, commands, and links to files. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { settings } from '../../src/settings/index.ts';

const root = join(import.meta.dir, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = ['*.md', 'docs/**/*.md', 'bench/*.md']
  .flatMap(pattern => [...new Glob(pattern).scanSync({ cwd: root })])
  .sort();

test('every setting is in .env.example and docs/operation.md', () => {
  const [example, operation] = [read('.env.example'), read('docs/operation.md')];
  expect(Object.keys(settings).length).toBeGreaterThan(40);
  for (const name of Object.keys(settings)) {
    expect([name, new RegExp(`^#?${name}=`, 'm').test(example)]).toEqual([name, true]);
    expect([name, operation.includes(`\`${name}\``)]).toEqual([name, true]);
  }
  const named = [...example.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  // A variable of the runtime, which is not among the settings.
  expect(named.filter(name => name !== undefined && !(name in settings))).toEqual(['NODE_EXTRA_CA_CERTS']);
});

test('every link between documents leads to a file', () => {
  expect(pages.length).toBeGreaterThan(15);
  const links = pages.flatMap(page =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = '']) => ({ page, target })),
  );
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ page, target }) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});

test('every npm script that a document names exists', () => {
  // Boundary: npm reads it in this form.
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = pages.flatMap(page =>
    [...read(page).matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g)].map(([, name = '']) => ({
      page,
      name,
    })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([]);
});

test('SECURITY.md names exactly the public operations', () => {
  const access = read('SECURITY.md').split('- **Access.**')[1]?.split('\n- **')[0] ?? '';
  const named = [...access.matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, operation]) => operation);
  // Boundary: documents/openapi.test.ts checks its form.
  const { paths } = JSON.parse(read('openapi.json')) as {
    paths: Record<string, Record<string, { security?: readonly unknown[] }>>;
  };
  const open = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { security }]) =>
      security?.length === 0 ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  );
  expect(open.length).toBeGreaterThan(15);
  expect(named.toSorted()).toEqual(open.toSorted());
});
