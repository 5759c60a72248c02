/** `npm run lint:openapi`: checks openapi.json by the rules of .spectral.yaml and redocly.yaml; warnings fail too. */
import { join } from 'node:path';
import { formatProblems, getTotals, lint, loadConfig } from '@redocly/openapi-core';

const root = join(import.meta.dir, '..');

/** Spectral runs under Node, since only its own program reads the YAML rules. */
async function spectral(): Promise<boolean> {
  const program = join('node_modules', '@stoplight', 'spectral-cli', 'dist', 'index.js');
  const child = Bun.spawn(['node', program, 'lint', 'openapi.json', '--fail-severity', 'warn'], {
    cwd: root,
    stdout: 'inherit',
    stderr: 'inherit',
  });
  return (await child.exited) === 0;
}

async function redocly(): Promise<boolean> {
  const config = await loadConfig({ configPath: join(root, 'redocly.yaml') });
  const problems = await lint({ ref: join(root, 'openapi.json'), config });
  const totals = getTotals(problems);
  if (problems.length > 0) formatProblems(problems, { totals, version: '', format: 'codeframe' });
  console.log(`Redocly: ${totals.errors} errors, ${totals.warnings} warnings`);
  return totals.errors === 0 && totals.warnings === 0;
}

const passed = [await spectral(), await redocly()];
process.exit(passed.every(Boolean) ? 0 : 1);
