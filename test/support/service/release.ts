/** Other releases of this program, for tests in which releases run side by side. */
import { expect } from 'bun:test';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..', '..', '..');

export interface AddedMigration {
  readonly name: string;
  readonly statement: string;
}

/** Copies this program to a folder of its own, with additional migrations. @returns the path that starts it */
export function buildRelease(folder: string, name: string, added: readonly AddedMigration[]): string {
  const own = join(folder, name);
  mkdirSync(own);
  cpSync(join(root, 'src'), join(own, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(own, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(own, 'node_modules'));
  const index = join(own, 'src', 'storage', 'migrations', 'index.ts');
  const entries = added.map(
    ({ name, statement }) =>
      `{ name: '${name}', async up(session, { build }) { await session.run(sql.raw('${statement}').compile(build)); } },`,
  );
  const text = readFileSync(index, 'utf8');
  expect(text).toEndWith('];\n');
  writeFileSync(
    index,
    `import { sql } from 'kysely';\n${text.replace(/\];\n$/, `${entries.join('\n')}\n];\n`)}`,
  );
  return join(own, 'src', 'main.ts');
}
