/** What the documents say and a machine can check: settings, commands, addresses of files. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { settings } from '../src/config.ts';

const root = join(import.meta.dir, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = ['*.md', 'docs/**/*.md', 'bench/*.md']
  .flatMap(pattern => [...new Glob(pattern).scanSync({ cwd: root })])
  .sort();

test('every setting is in .env.example and docs/operation.md', () => {
  const [example, operation] = [read('.env.example'), read('docs/operation.md')];
  for (const name of Object.keys(settings)) {
    expect([name, new RegExp(`^#?${name}=`, 'm').test(example)]).toEqual([name, true]);
    expect([name, operation.includes(`\`${name}\``)]).toEqual([name, true]);
  }
  const named = [...example.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  // The runtime's own, which settings cannot know.
  expect(named.filter(name => name !== undefined && !(name in settings))).toEqual(['NODE_EXTRA_CA_CERTS']);
});

test('every link between documents leads to a file', () => {
  expect(pages.length).toBeGreaterThan(15);
  for (const page of pages) {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      expect([page, target, existsSync(join(root, dirname(page), target))]).toEqual([page, target, true]);
  }
});

test('every npm script that a document names is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const page of pages) {
    for (const [, name = ''] of read(page).matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g))
      expect([page, name, name in scripts]).toEqual([page, name, true]);
  }
});
