/**
 * Settings in a file `.env`, for the programs that are started by scripts. Bun would read it by itself, but replaces what
 * follows a `$` in its values, and reads further files that nothing mentions. Plain Node.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as util from 'node:util';
import { root } from './install.mjs';

/** Arguments of Bun with which it reads neither `.env` files nor a bunfig.toml of the current folder, which may name code. */
export const bunArguments = ['--no-env-file', `--config=${join(root, 'bunfig.toml')}`];

/** What would make the programs run other code: a folder that a command is called in has no say in that. */
const ofTheRuntime = /^(BUN_|LD_|DYLD_|GCONV_PATH$|NODE_OPTIONS$|NODE_PATH$|CATALOG_PARENT_PIPE$)/;

/** The environment, and below it the variables of `.env` in the folder. Ends the process when the file cannot be read. */
export function environmentIn(folder) {
  const text = readIn(folder);
  if (text === undefined) return { ...process.env };
  if (util.parseEnv === undefined) fail('is read by Node 20.12 or newer; update Node, or set the variables');
  const variables = Object.entries(util.parseEnv(text)).filter(([name]) => !ofTheRuntime.test(name));
  return { ...Object.fromEntries(variables), ...process.env };
}

function readIn(folder) {
  try {
    return readFileSync(join(folder, '.env'), 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT')
      fail(`cannot be read (${error.code}); change its owner or mode, or remove it`);
    return undefined;
  }
}

function fail(reason) {
  console.error(`catalog: .env in the current folder ${reason}`);
  process.exit(1);
}
