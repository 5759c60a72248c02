/** The secret that signs tokens and cursors: from the settings, or generated once and stored beside the database. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import { getErrorCode, getErrorMessage } from '../error-text.ts';

/** The signing secret first, then older ones whose signatures and seals are still accepted. */
export type Secrets = readonly [string, ...string[]];

/** The path of the generated secret. */
export const getSecretFile = (folder: string): string => join(folder, 'jwt-secret');

/**
 * @returns the signing secret first, then those whose tokens are still accepted
 * @throws ConfigError when the stored secret cannot be read or created
 */
export function loadSecrets(config: Config): Secrets {
  return [config.JWT_SECRET ?? ensureSecret(config.DATA_DIR), ...config.JWT_PREVIOUS_SECRETS];
}

function ensureSecret(folder: string): string {
  const file = getSecretFile(folder);
  try {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(file)) createWhole(file, randomBytes(48).toString('base64url'));
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') {
      throw new ConfigError(`DATA_DIR: cannot write ${file}: ${getErrorMessage(error)}`);
    }
  }
  const secret = readSecret(file);
  if (secret.length < 32)
    throw new ConfigError(
      `DATA_DIR: ${file} holds no usable secret: restore it from your backup. Without a backup, remove the file: ` +
        'a new secret is then created, all users must sign in again, and queued mail is lost',
    );
  return secret;
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`DATA_DIR: cannot read ${file}: ${getErrorMessage(error)}`);
  }
}

/**
 * Creates a file that has its text from the beginning: of several processes that start at once, one creates it and the
 * others read it, and a full disk leaves no empty one.
 * @throws Error of the system; EEXIST when another process came first
 */
function createWhole(file: string, text: string): void {
  const options = { flag: 'wx', mode: 0o600 } as const;
  const partial = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(partial, text, options);
    try {
      linkSync(partial, file);
    } catch (error) {
      if (getErrorCode(error) === 'EEXIST') throw error;
      // The file system has no links.
      writeFileSync(file, text, options);
    }
  } finally {
    rmSync(partial, { force: true });
  }
}
