/** The command lines of scripts. */
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { getErrorMessage } from '../src/error-text.ts';

/**
 * Reads the options of a script; if the command line is wrong, ends the process with status 2 and one line that says why.
 * @param advice what the line says after the reason
 */
export function readCommandLine<Options>(script: string, read: () => Options, advice: string): Options {
  try {
    return read();
  } catch (error) {
    console.error(`${script}: ${getErrorMessage(error)}; ${advice}`);
    process.exit(2);
  }
}

/** Whether a script that writes a file shall only report what is wrong with it: --check, its only option. */
export function readCheckOption(script: string): boolean {
  const options = { check: { type: 'boolean', default: false } } as const;
  return readCommandLine(script, () => parseArgs({ options }).values.check, 'the only option is --check');
}

/** Makes signals end the process in the way that runs its `exit` listeners, which stop servers and remove files. */
export function exitOnSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
}
