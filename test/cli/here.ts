/**
 * Runs the program's command line in the process of the tests: the same function with the same settings, without the
 * cost of starting a process. For commands that do not read standard input, write through console and
 * process.stdout.write only, and end on their own.
 */
import { runProgram } from '../../src/cli/program.ts';
import type { Ended } from './program.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

let last: Promise<unknown> = Promise.resolve();

/** @param environment all the settings that the command sees; since they are the process's, commands run in turn */
export function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  const ended = last.then(() => run(args, environment));
  last = ended.catch(() => undefined);
  return ended;
}

async function run(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  let [out, err] = ['', ''];
  const { log, error } = console;
  const { write } = process.stdout;
  const settings = { ...process.env };
  const terminal = process.stderr.isTTY;
  const umask = process.umask(0o077);
  const listeners = signals.map(signal => process.listeners(signal));
  console.log = (text: string) => {
    out += `${text}\n`;
  };
  Object.assign(process.stdout, {
    write(text: string, written: () => void) {
      out += text;
      written();
      return true;
    },
  });
  console.error = (text: string) => {
    err += `${text}\n`;
  };
  process.stderr.isTTY = false;
  replaceEnvironment({ PATH: settings.PATH, ...environment });
  try {
    return { status: await runProgram(args), out, err };
  } finally {
    Object.assign(console, { log, error });
    Object.assign(process.stdout, { write });
    process.stderr.isTTY = terminal;
    process.umask(umask);
    replaceEnvironment(settings);
    // The command does not remove its listeners, because usually its process ends.
    for (const [index, signal] of signals.entries())
      for (const listener of process.listeners(signal))
        if (!listeners[index]?.includes(listener)) process.off(signal, listener);
  }
}

function replaceEnvironment(next: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const [name, value] of Object.entries(next)) if (value !== undefined) process.env[name] = value;
}
