/**
 * All subcommands, one line each. A subcommand is loaded only when it runs: its dependencies, such as the service,
 * would cost the others time and memory.
 */
import { type Setting, settings } from '../settings/index.ts';
import type { Command } from './usage.ts';

export interface CommandEntry {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

const entries: readonly (readonly [name: string, summary: string, load: CommandEntry['load']])[] = [
  ['serve', 'run the service', () => import('./serve.ts')],
  ['migrate', 'run database migrations', () => import('./migrate.ts')],
  ['import', 'add products from a CSV, NDJSON or JSON file', () => import('./import/index.ts')],
  ['export', 'write all products as CSV, NDJSON or JSON', () => import('./export.ts')],
  ['users', 'create and list users, set passwords and roles', () => import('./users.ts')],
  ['keys', 'create, list and revoke API keys', () => import('./keys.ts')],
  ['backup', 'copy the embedded database while the service runs', () => import('./backup/index.ts')],
  ['check', 'verify the database and repair derived data', () => import('./check/index.ts')],
  ['media', 'compare image files with the database and repair differences', () => import('./media/index.ts')],
  ['restore', 'replace the embedded database with a backup', () => import('./backup/restore.ts')],
  ['copy', 'copy the embedded database into PostgreSQL', () => import('./copy/index.ts')],
];

export const commands: readonly CommandEntry[] = entries.map(([name, summary, load]) => ({
  name,
  summary,
  load,
}));

/** What `catalog --help` prints. */
export function formatOverview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`);
  const width = Math.max(...Object.keys(settings).map(name => name.length));
  const environment = Object.entries<Setting>(settings).map(
    ([name, { help, default: usual }]) =>
      `  ${name.padEnd(width)}  ${help}${usual === undefined ? '' : ` (${usual})`}`,
  );
  return [
    'catalog: a product-catalog REST service',
    '',
    'Usage: catalog COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...lines,
    '',
    'catalog COMMAND --help describes a command and its exit status; catalog --version prints the version.',
    'The exit status of every command is 78 if a setting is not valid.',
    '',
    'Settings (environment variables; default in brackets):',
    ...environment,
  ].join('\n');
}
