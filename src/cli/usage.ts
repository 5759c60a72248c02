/** The interface of a subcommand, and the parsing of its arguments. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { z } from 'zod';
import { quoteValue } from '../http/credentials.ts';
import { toErrorDetails } from '../http/schema.ts';

/** A command line that cannot be understood; the exit status is 2. */
export class UsageError extends Error {}

export interface Command {
  /** What `catalog <name> --help` prints. */
  readonly help: string;
  /** @returns the exit status */
  run(args: string[]): Promise<number>;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * node:util's parseArgs, where each boolean option may also be given as `--no-…`.
 * @throws UsageError, with a message of this program instead of Node's
 */
export function parse<T extends Options>(args: readonly string[], options: T, positionals = false) {
  const joined = joinValues(args, options);
  checkArguments(joined, options, positionals);
  return parseArgs({
    args: joined,
    options,
    strict: true,
    allowNegative: true,
    allowPositionals: positionals,
  });
}

/** Turns `--rate -5` into `--rate=-5`: no option here begins with a single dash, so `-5` is a value. */
function joinValues(args: readonly string[], options: Options): string[] {
  const joined: string[] = [];
  let option: string | undefined;
  for (const [index, argument] of args.entries()) {
    if (argument === '--') return [...joined, ...args.slice(index)];
    if (option !== undefined && /^-[^-]/.test(argument)) {
      joined.splice(-1, 1, `${option}=${argument}`);
      option = undefined;
      continue;
    }
    joined.push(argument);
    const takesValue = argument.startsWith('--') && getOptionType(options, argument.slice(2)) === 'string';
    option = takesValue ? argument : undefined;
  }
  return joined;
}

const getOptionType = (options: Options, name: string): 'string' | 'boolean' | undefined =>
  Object.hasOwn(options, name) ? options[name]?.type : undefined;

/** Refuses what `strict` would refuse, and options that are repeated or contradict each other. */
function checkArguments(args: string[], options: Options, positionals: boolean): void {
  const { tokens } = parseArgs({
    ...{ args, options, strict: false, tokens: true },
    ...{ allowNegative: true, allowPositionals: true },
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === 'positional' && !positionals) refuseExtraArguments([token.value]);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const type = getOptionType(options, name);
    if (type === undefined || (rawName === `--no-${name}` && type !== 'boolean'))
      throw new UsageError(`unknown option '${rawName}'`);
    if (type === 'boolean' && value !== undefined) throw new UsageError(`${rawName} takes no value`);
    const before = given.get(name);
    given.set(name, rawName);
    // Otherwise the last would win, and the first be ignored silently.
    if (before !== undefined && before !== rawName)
      throw new UsageError(`${before} and ${rawName} contradict each other`);
    if (type === 'boolean') continue;
    if (before !== undefined && options[name]?.multiple !== true)
      throw new UsageError(`${rawName} is given twice, but takes one value`);
    // A shell expands an unset variable to an empty value.
    if (value === undefined || value === '') throw new UsageError(`${rawName} needs a value`);
    if (!inlineValue && value.startsWith('--'))
      throw new UsageError(`${rawName} needs a value; if the value is "${value}", write ${rawName}=${value}`);
  }
}

/** Runs the action that a command's first argument names. */
export function runAction(
  actions: Readonly<Record<string, (args: string[]) => Promise<number>>>,
  [name = '', ...rest]: string[],
): Promise<number> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action(rest);
  const all = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(actions));
  throw new UsageError(name === '' ? `missing action: ${all}` : `unknown action "${name}": use ${all}`);
}

export function requireOption(value: string | undefined, option: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`${option} is missing`);
  return value;
}

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
 * Whether CSV cells are written, or read, as guarded against spreadsheets: yes, except with
 * `--no-safe-for-spreadsheets`.
 * @param value the option's value; undefined if it is not given
 * @param format undefined if it will be detected from the file
 */
export function parseSafeOption(value: boolean | undefined, format: string | undefined): boolean {
  if (value !== undefined && format !== undefined && format !== 'csv')
    throw new UsageError('--safe-for-spreadsheets is for CSV only');
  return value ?? true;
}

/** @throws UsageError when there are arguments beyond those that the command takes */
export function refuseExtraArguments([extra]: readonly string[]): void {
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
}

/** The only positional argument of a command. */
export function requireOnePositional(positionals: readonly string[], name: string): string {
  const [value, ...extra] = positionals;
  if (value === undefined || value.trim() === '') throw new UsageError(`${name} is missing`);
  refuseExtraArguments(extra);
  return value;
}

/** A message repeats at most this many characters of a value. */
const shownCharacters = 60;

/**
 * Parses a value of the command line with a schema.
 * @param shown the value as the message repeats it; null for a secret
 * @throws UsageError with the first problem that the schema finds
 */
export function parseValue<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  option: string,
  shown: unknown = value,
): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const rule = toErrorDetails(result.error)[0]?.message ?? 'is not valid';
  const not = typeof shown === 'string' ? `, not ${quoteValue(shown, shownCharacters)}` : '';
  throw new UsageError(`${option} ${rule}${not}`);
}
