/** The command line: finds the command, runs it, and ends with its status. */

import { version } from '../package.json';
import { commands, overview } from './cli/index.ts';
import { UsageError } from './cli/usage.ts';
import { ConfigError } from './config.ts';

const [name, ...rest] = process.argv.slice(2);

if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
  console.log(overview());
  process.exit(name === undefined ? 2 : 0);
}

if (name === '--version' || name === '-v') {
  console.log(version);
  process.exit(0);
}

const listed = commands.find(candidate => candidate.name === name);
if (listed === undefined) {
  console.error(`catalog: there is no command "${name}"; catalog --help lists them`);
  process.exit(2);
}
const command = await listed.load();

if (rest.includes('--help') || rest.includes('-h')) {
  console.log(command.help);
  process.exit(0);
}

try {
  const status = await command.run(rest);
  // Explicitly: an open pipe on standard input or output would keep a finished process alive.
  process.exit(status);
} catch (error) {
  if (error instanceof ConfigError) console.error(`catalog: setting ${error.message}`);
  else if (error instanceof UsageError)
    console.error(`catalog ${name}: ${error.message}; see catalog ${name} --help`);
  else console.error(`catalog ${name}: ${error instanceof Error ? error.message : error}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
