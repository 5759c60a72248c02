/** What a subcommand is, and how its arguments are read. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A command line that cannot be understood; exits 2. */
export class UsageError extends Error {}

export interface Command {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** What `catalog <name> --help` prints. */
  readonly help: string;
  /** @returns the exit status */
  run(args: string[]): Promise<number>;
}

/** node:util's parseArgs, strict, with its complaint as a UsageError. */
export function parse<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  positionals = false,
) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: positionals });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
