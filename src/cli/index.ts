/** All subcommands, one line each. */
import { settings } from '../config.ts';
import { migrateCommand } from './migrate.ts';
import { serveCommand } from './serve.ts';
import type { Command } from './usage.ts';

export const commands: readonly Command[] = [serveCommand, migrateCommand];

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
    'catalog COMMAND --help tells more about one.',
    '',
    'Settings (environment variables; default in brackets):',
    ...environment,
  ].join('\n');
}
