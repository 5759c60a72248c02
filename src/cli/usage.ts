/** What a subcommand does, and how its arguments are read. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { z } from 'zod';
import { toErrorDetails } from '../http/schema.ts';

/** A command line that cannot be understood; exits 2. */
export class UsageError extends Error {}

export interface Command {
  /** What `catalog <name> --help` prints. */
  readonly help: string;
  /** @returns the exit status */
  run(args: string[]): Promise<number>;
}

/** node:util's parseArgs, strict, each option that is true or false also as `--no-…`, with the first sentence of its complaint as a UsageError. */
export function parse<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  positionals = false,
) {
  try {
    return parseArgs({ args, options, strict: true, allowNegative: true, allowPositionals: positionals });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split(/\.\s|\n/)[0]?.replace(/^[A-Z]/, first => first.toLowerCase()));
  }
}

/** Runs the action that a command's first argument names. */
export function runAction(
  actions: Readonly<Record<string, (args: string[]) => Promise<number>>>,
  [name = '', ...rest]: string[],
): Promise<number> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action(rest);
  const names = Object.keys(actions);
  const all = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new UsageError(`the action is ${all}, not ${name === '' ? 'nothing' : `"${name}"`}`);
}

/** The value of an option that the command cannot do without. */
export function requireOption(value: string | undefined, option: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`${option} is missing`);
  return value;
}

/** The value of an option that is a number, such as a count. */
export function parseCountOption(value: string, option: string, minimum: number, maximum: number): number;
export function parseCountOption(
  value: string | undefined,
  option: string,
  minimum: number,
  maximum: number,
): number | undefined;
export function parseCountOption(
  value: string | undefined,
  option: string,
  minimum: number,
  maximum: number,
): number | undefined {
  if (value === undefined) return undefined;
  const count = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (count >= minimum && count <= maximum) return count;
  throw new UsageError(`${option} takes an integer from ${minimum} to ${maximum}, not "${value}"`);
}

/** The value of an option that is one of a few words. */
export function parseChoiceOption<Choice extends string>(
  value: string,
  option: string,
  choices: readonly Choice[],
): Choice;
export function parseChoiceOption<Choice extends string>(
  value: string | undefined,
  option: string,
  choices: readonly Choice[],
): Choice | undefined;
export function parseChoiceOption<Choice extends string>(
  value: string | undefined,
  option: string,
  choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined) return undefined;
  const choice = choices.find(candidate => candidate === value);
  if (choice === undefined) throw new UsageError(`${option} is one of ${choices.join(', ')}, not "${value}"`);
  return choice;
}

/**
 * Whether cells of CSV are guarded, or read as guarded: unless `--no-safe-for-spreadsheets` says otherwise.
 * @param value of the option, undefined when it is not given
 * @param format undefined while only the file says it
 */
export function parseSafeOption(value: boolean | undefined, format: string | undefined): boolean {
  if (value !== undefined && format !== undefined && format !== 'csv') {
    throw new UsageError('--safe-for-spreadsheets is for CSV only');
  }
  return value ?? true;
}

/** The one positional argument of a command. */
export function requireOnePositional(positionals: readonly string[], name: string): string {
  const [value, extra] = positionals;
  if (value === undefined) throw new UsageError(`${name} is missing`);
  if (extra !== undefined) throw new UsageError(`there is no place for the argument "${extra}"`);
  return value;
}

/** What a schema makes of a value of the command line; its first complaint as a UsageError. */
export function parseValue<Output>(schema: z.ZodType<Output>, value: unknown, option: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UsageError(`${option} ${toErrorDetails(result.error)[0]?.message ?? 'is not valid'}`);
}
