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

export const commands: readonly CommandEntry[] = [
  { name: 'serve', summary: 'run the service', load: () => import('./serve.ts') },
  { name: 'migrate', summary: 'run database migrations', load: () => import('./migrate.ts') },
  {
    name: 'import',
    summary: 'add products from a CSV, NDJSON or JSON file',
    load: () => import('./import/index.ts'),
  },
  { name: 'export', summary: 'write all products as CSV, NDJSON or JSON', load: () => import('./export.ts') },
  {
    name: 'users',
    summary: 'create and list users, set passwords and roles',
    load: () => import('./users.ts'),
  },
  { name: 'keys', summary: 'create, list and revoke API keys', load: () => import('./keys.ts') },
  {
    name: 'backup',
    summary: 'copy the embedded database while the service runs',
    load: () => import('./backup/index.ts'),
  },
  {
    name: 'check',
    summary: 'verify the database and repair derived data',
    load: () => import('./check/index.ts'),
  },
  {
    name: 'media',
    summary: 'compare image files with the database and repair differences',
    load: () => import('./media/index.ts'),
  },
  {
    name: 'restore',
    summary: 'replace the embedded database with a backup',
    load: () => import('./backup/restore.ts'),
  },
  {
    name: 'copy',
    summary: 'copy the embedded database into PostgreSQL',
    load: () => import('./copy/index.ts'),
  },
];

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
    'catalog COMMAND --help describes a command; catalog --version prints the version.',
    '',
    'Settings (environment variables; default in brackets):',
    ...environment,
  ].join('\n');
}
