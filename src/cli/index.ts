/** All subcommands, one line each. */
import { settings } from '../config.ts';
import { backupCommand } from './backup.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { serveCommand } from './serve.ts';
import type { Command } from './usage.ts';
import { usersCommand } from './users.ts';

export const commands: readonly Command[] = [
  serveCommand,
  migrateCommand,
  importCommand,
  exportCommand,
  usersCommand,
  keysCommand,
  backupCommand,
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
