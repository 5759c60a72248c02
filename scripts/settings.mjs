/**
 * Settings from a file `.env`, for the programs that scripts start. Bun would read it too, but expands `$` in values,
 * and reads further files that are not documented. Plain Node.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as util from 'node:util';
import { root } from './install.mjs';

/** Arguments that keep Bun from reading `.env` files and a bunfig.toml of the current folder, which may name code. */
export const bunArguments = ['--no-env-file', `--config=${join(root, 'bunfig.toml')}`];

/** Variables that could make the programs run other code: the current folder must not set them. */
const ofTheRuntime = /^(BUN_|LD_|DYLD_|GCONV_PATH$|NODE_OPTIONS$|NODE_PATH$|CATALOG_PARENT_PIPE$)/;

const wrongEncoding = 'is not a text in UTF-8; save it in this encoding';

/** The environment, with `.env` in the folder as defaults. Ends the process if the file cannot be read. */
export function environmentIn(folder) {
  const text = readIn(folder);
  if (text === undefined) return { ...process.env };
  if (util.parseEnv === undefined) fail('is read by Node 20.12 or newer; update Node, or set the variables');
  const variables = Object.entries(util.parseEnv(text)).filter(([name]) => !ofTheRuntime.test(name));
  refuseColons(text, variables);
  // Bytes that are no UTF-8, as other encodings have them for an ü: a password would become another one.
  if (variables.some(([, value]) => value.includes('\uFFFD'))) fail(wrongEncoding);
  return { ...Object.fromEntries(variables), ...process.env };
}

/** `NAME: value`, as in YAML, would be ignored, and a service with such a DATABASE_URL would start on SQLite. */
function refuseColons(text, variables) {
  for (const [index, line] of text.split('\n').entries()) {
    const [, name] = /^\s*([A-Z][A-Z0-9_]*)[ \t]*:/.exec(line) ?? [];
    // A value in quotation marks may have several lines.
    if (name === undefined || variables.some(([, value]) => value.includes(`${name}:`))) continue;
    fail(`has "${name}:" in line ${index + 1}; write ${name}=value`);
  }
}

function readIn(folder) {
  const bytes = readBytesIn(folder);
  if (bytes === undefined) return undefined;
  // Windows PowerShell writes UTF-16. No variable can hold the character 0.
  if (bytes.includes(0)) fail(wrongEncoding);
  // A byte order mark would become part of the first name.
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

function readBytesIn(folder) {
  try {
    return readFileSync(join(folder, '.env'));
  } catch (error) {
    if (error.code !== 'ENOENT')
      fail(`cannot be read (${error.code}); change its owner or mode, or remove it`);
    return undefined;
  }
}

/** Exits with the status for settings that are not valid, as the program does. */
function fail(reason) {
  console.error(`catalog: .env in the current folder ${reason}`);
  process.exit(78);
}
