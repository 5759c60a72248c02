/**
 * All subcommands, one line each. Each is loaded when it is run: what one needs, such as the service, would take
 * the others time and memory.
 */
import { settings } from '../config.ts';
import type { Command } from './usage.ts';

export interface Listed {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  load(): Promise<Command>;
}

export const commands: readonly Listed[] = [
  {
    name: 'serve',
    summary: 'run the service',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'migrate',
    summary: 'bring the database up to date',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    name: 'import',
    summary: 'add products from a CSV, NDJSON or JSON file',
    load: async () => (await import('./import/index.ts')).importCommand,
  },
  {
    name: 'export',
    summary: 'write all products as CSV or NDJSON',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'users',
    summary: 'create and list users, set passwords and roles',
    load: async () => (await import('./users.ts')).usersCommand,
  },
  {
    name: 'keys',
    summary: 'create, list and revoke API keys',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  {
    name: 'backup',
    summary: 'copy the embedded database while the service runs',
    load: async () => (await import('./backup/index.ts')).backupCommand,
  },
  {
    name: 'check',
    summary: 'say whether the database is whole, and repair what is derived',
    load: async () => (await import('./check/index.ts')).checkCommand,
  },
  {
    name: 'media',
    summary: 'say whether the files of images and their rows agree, and repair them',
    load: async () => (await import('./media/index.ts')).mediaCommand,
  },
  {
    name: 'restore',
    summary: 'put a backup in the place of the embedded database',
    load: async () => (await import('./backup/restore.ts')).restoreCommand,
  },
];

/** What `catalog --help` prints. */
export function overview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`);
  const width = Math.max(...Object.keys(settings).map(name => name.length));
  const environment = Object.entries(settings).map(([name, { help }]) => `  ${name.padEnd(width)}  ${help}`);
  return [
    'catalog: a product-catalog REST service',
    '',
    'Usage: catalog COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...lines,
    '',
    'catalog COMMAND --help tells more about one; catalog --version prints the version.',
    '',
    'Settings (environment variables; default in brackets):',
    ...environment,
  ].join('\n');
}
