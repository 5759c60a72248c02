/** `npm run new -- resource NAME` in a copy of the tree: the new files pass the checks and the generic suite. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';

setDefaultTimeout(300_000);
const root = join(import.meta.dir, '../../..');
let copy = '';

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'catalog-new-'));
  const left = /\/(node_modules|\.git)$/;
  const data = join(root, 'data');
  cpSync(root, copy, { recursive: true, filter: path => path !== data && !left.test(path) });
  for (const folder of ['node_modules', 'client/node_modules']) {
    symlinkSync(join(root, folder), join(copy, folder));
  }
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

async function run(...command: string[]): Promise<{ status: number; output: string }> {
  const child = Bun.spawn(command, { cwd: copy, stdout: 'pipe', stderr: 'pipe' });
  const [status, ...texts] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { status, output: texts.join('') };
}

async function succeed(...command: string[]): Promise<string> {
  const { status, output } = await run(...command);
  expect(status, `${command.join(' ')}\n${output.slice(-3000)}`).toBe(0);
  return output;
}

const bun = process.execPath;
const testing = [bun, 'test', '--timeout', '60000'];

/** The hashes of the files in the copy that the script could write. */
async function contents(): Promise<Record<string, string>> {
  const paths = ['*', 'src/**/*', 'test/**/*', 'scripts/**/*'].flatMap(pattern => [
    ...new Glob(pattern).scanSync({ cwd: copy }),
  ]);
  const read = async (path: string) => [path, String(Bun.hash(await Bun.file(join(copy, path)).bytes()))];
  return Object.fromEntries(await Promise.all(paths.sort().map(read)));
}

async function expectRefused(words: string, status: number, message: string): Promise<void> {
  const before = await contents();
  const ended = await run(bun, 'scripts/new.ts', 'resource', ...words.split(' '));
  expect([ended.status, ended.output.slice(0, message.length)]).toEqual([status, message]);
  expect(await contents()).toEqual(before);
}

test('new resources are served, described and tested', async () => {
  const before = await contents();
  const output = await succeed(bun, 'scripts/new.ts', 'resource', 'notes');
  const written = output.split('\n').filter(line => line.includes('/'));
  const changed = Object.entries(await contents()).filter(([path, hash]) => before[path] !== hash);
  expect(written.sort()).toEqual(changed.map(([path]) => path).sort());
  // A new table only adds, so that replicas of the previous release continue to serve.
  expect(written.join('\n')).toMatch(/^src\/storage\/migrations\/\d{4}-expand-notes\.ts$/m);
  await succeed(...testing, 'test/architecture/');
  await succeed(bun, 'scripts/new.ts', 'resource', 'boxes');
  await succeed(bun, 'scripts/new.ts', 'resource', 'shelves', 'shelf');
  await succeed(bun, 'scripts/new.ts', 'resource', 'gift-cards');
  await expectRefused('notes', 1, 'new: "notes" is taken: there is a folder src/resources/notes\n');
  await expectRefused(
    'drawers box',
    1,
    'new: "box" is taken: src/resources/stores.ts has a name createBoxStore\n',
  );
  await run('node_modules/.bin/biome', 'check', '--write', 'src', 'test');
  await succeed(bun, 'scripts/openapi.ts');
  const [, , , , contract] = await Promise.all([
    succeed('node_modules/.bin/tsc', '--noEmit', '-p', '.'),
    succeed('node_modules/.bin/biome', 'check', '--error-on-warnings', 'src', 'test'),
    succeed('node_modules/.bin/knip', '--no-progress'),
    succeed(
      ...testing,
      'notes.test.ts',
      'boxes.test.ts',
      'shelves.test.ts',
      'gift-cards.test.ts',
      'test/documents/openapi.test.ts',
    ),
    // Only the part of the generic suite for these resources: the rest runs elsewhere.
    succeed(...testing, 'test/contract.test.ts', '-t', '/(notes|boxes|shelves|gift-cards)'),
  ]);
  expect(Number(/^ *(\d+) pass$/m.exec(contract)?.[1])).toBeGreaterThan(120);
});

test.each([
  ['sweeps', 1, 'new: "sweeps" is taken: there is a file test/resources/sweeps.test.ts\n'],
  ['returns', 1, 'new: "return", the singular of "returns", is a reserved word of TypeScript\n'],
  ['sessions', 1, 'new: "sessions" is taken: src/storage/tables.ts has a table sessions\n'],
  ['tokens', 1, 'new: "tokens" is taken: src/resources/stores.ts has a name tokens\n'],
  [
    '../notes',
    2,
    'new: "../notes" is not a name: names are lower-case letters, with a hyphen between words, as in notes\n\nUsage: ',
  ],
  ['houses', 2, 'new: the singular of "houses" may be house or hous: name it too, as in '],
])('%s: refused with status %d, and nothing is written', expectRefused);
