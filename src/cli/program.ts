/** The command line as a function: finds the command, runs it, and returns the exit status. */
import { version } from '../../package.json';
import { ConfigError, InvalidSettingError } from '../config.ts';
import { getErrorMessage } from '../error-text.ts';
import { damageAdvice, isDamage } from '../storage/damage.ts';
import { isMissingRight } from '../storage/open.ts';
import { commands, formatOverview } from './index.ts';
import { escapeUnprintable, printRead } from './terminal/index.ts';
import { UsageError } from './usage.ts';

/** EX_CONFIG of sysexits.h. Supervisors need it, to start the service again after other failures only. */
const invalidSetting = 78;

/**
 * Runs one command line. Output goes to standard output and standard error. Does not end the process.
 * @param args the arguments after the program's name
 * @returns the exit status: that of the command, 1 for a failure, 2 for a command line that cannot be understood, 78 for
 *   a setting that is not valid
 */
export async function runProgram(args: readonly string[]): Promise<number> {
  const [first, ...others] = args;
  // People type `catalog help import` for `catalog import --help`.
  const [name, ...rest] = first === 'help' && others.length > 0 ? [others[0], '--help'] : [first, ...others];
  if (name === undefined || name === '--help' || name === '-h' || name === 'help')
    return (await print(formatOverview())) || (name === undefined ? 2 : 0);
  if (name === '--version' || name === '-v') return print(version);
  const listed = commands.find(candidate => candidate.name === name);
  if (listed === undefined) {
    console.error(`catalog: there is no command "${escapeUnprintable(name)}"; catalog --help lists them`);
    return 2;
  }
  const { command } = await listed.load();
  if (rest.includes('--help') || rest.includes('-h')) return print(command.help);
  try {
    return await command.run(rest);
  } catch (error) {
    const message = escapeUnprintable(getErrorMessage(error));
    if (error instanceof ConfigError) console.error(`catalog: setting ${message}`);
    else if (error instanceof UsageError)
      console.error(`catalog ${name}: ${message}; see catalog ${name} --help`);
    else console.error(`catalog ${name}: ${message}${formatAdvice(name, error)}`);
    if (error instanceof InvalidSettingError) return invalidSetting;
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Advice for missing rights and damaged data. If `catalog check` itself cannot read the data, only a backup helps. */
function formatAdvice(command: string, error: unknown): string {
  if (isMissingRight(error))
    return '; run catalog migrate as the role that owns the tables, and grant this one the rights that docs/operation.md names';
  if (!isDamage(error)) return '';
  return `; ${command === 'check' ? 'restore a backup' : damageAdvice}`;
}

/** @returns the exit status */
async function print(text: string): Promise<number> {
  try {
    await printRead(text);
    return 0;
  } catch (error) {
    console.error(`catalog: ${escapeUnprintable(getErrorMessage(error))}`);
    return 1;
  }
}
