/** `npm run new -- resource NAME` in a copy of the tree: what it writes passes the checks and the generic suite at once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

setDefaultTimeout(300_000);
const root = join(import.meta.dir, '../..');
let copy = '';

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'catalog-new-'));
  const kept = /\/(node_modules|data|\.git)$/;
  cpSync(root, copy, { recursive: true, filter: path => !kept.test(path) });
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

test('a new resource is served, described and tested', async () => {
  const bun = process.execPath;
  const testing = [bun, 'test', '--timeout', '60000'];
  expect(await succeed(bun, 'scripts/new.ts', 'resource', 'notes')).toContain(
    'src/resources/notes/schema.ts',
  );
  await run('node_modules/.bin/biome', 'check', '--write', 'src', 'test');
  await succeed(bun, 'scripts/openapi.ts');
  const [, , , contract] = await Promise.all([
    succeed('node_modules/.bin/tsc', '--noEmit', '-p', '.'),
    succeed('node_modules/.bin/biome', 'check', '--error-on-warnings', 'src', 'test'),
    succeed(...testing, 'notes.test.ts', 'architecture.test.ts', 'test/openapi.test.ts'),
    // Of the generic suite what is of this resource: the rest has a run of its own.
    succeed(...testing, 'test/contract.test.ts', '-t', '/notes'),
  ]);
  expect(Number(/^ *(\d+) pass$/m.exec(contract)?.[1])).toBeGreaterThan(30);
  // A name that is taken, or none, changes nothing.
  expect((await run(bun, 'scripts/new.ts', 'resource', 'notes')).status).toBe(1);
  expect((await run(bun, 'scripts/new.ts', 'resource', '../notes')).status).toBe(2);
});
