/** The environment, validated once into a frozen object. No other module reads settings from process.env. */
import type { z } from 'zod';
import { quoteValue } from './http/credentials.ts';
import { toErrorDetails } from './http/schema.ts';
import { type Setting, settings } from './settings/index.ts';
import { splitAtCommas } from './settings/values.ts';

/** An unusable setting. The message is one line that names it. */
export class ConfigError extends Error {}

/** A setting that breaks its rule, or misses another one: every start fails until it is changed. */
export class InvalidSettingError extends ConfigError {}

type Settings = typeof settings;
export type Config = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> };

/**
 * @param environment usually process.env; empty values count as unset
 * @throws InvalidSettingError naming the first setting that breaks its rule
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    const trimmed = environment[name]?.trim();
    const text = trimmed === '' ? undefined : trimmed;
    const result = setting.schema.safeParse(text ?? setting.default);
    if (!result.success)
      throw new InvalidSettingError(`${name}: ${formatReason(setting, text ?? '', result.error)}`);
    values[name] = result.data;
  }
  // Boundary: the loop above gave every name the output of its own schema.
  const config = Object.freeze(values) as Config;
  checkTogether(config);
  return config;
}

function checkTogether(config: Config): void {
  if (config.DATABASE_URL !== undefined && config.JWT_SECRET === undefined) {
    throw new InvalidSettingError(
      'JWT_SECRET: required when DATABASE_URL is set, the same for all replicas: openssl rand -base64 48 makes one',
    );
  }
  if (config.STRIPE_SECRET_KEY !== undefined && config.STRIPE_WEBHOOK_SECRET === undefined) {
    throw new InvalidSettingError(
      'STRIPE_WEBHOOK_SECRET: required when STRIPE_SECRET_KEY is set, since Stripe confirms payments by webhook',
    );
  }
  if ((config.ADMIN_EMAIL === undefined) !== (config.ADMIN_PASSWORD === undefined)) {
    const missing = config.ADMIN_EMAIL === undefined ? 'ADMIN_EMAIL' : 'ADMIN_PASSWORD';
    throw new InvalidSettingError(
      `${missing}: is missing; set both ADMIN_EMAIL and ADMIN_PASSWORD, or neither`,
    );
  }
}

/** Characters of a value that a message quotes. */
const shownCharacters = 60;

/** The broken rule, worded as for request bodies, followed by the value where it may be quoted, and the default. */
function formatReason(setting: Setting, text: string, error: z.ZodError): string {
  const rule = toErrorDetails(error)[0]?.message ?? 'is not valid';
  const position = error.issues[0]?.path[0];
  const isEntry = typeof position === 'number';
  const value = isEntry ? (splitAtCommas(text)[position] ?? '') : text;
  const usual = setting.default === undefined ? '' : `; default ${setting.default}`;
  if (holdsSecret(setting, value)) return `${isEntry ? `entry ${position + 1} ` : ''}${rule}${usual}`;
  // Rules with other wording already name the value they found.
  const not = rule.startsWith('must ') ? `, not ${quoteValue(value, shownCharacters)}` : '';
  return `${rule}${not}${usual}`;
}

/** Credentials precede an @, and a key may be among the parameters. */
const holdsSecret = ({ holds }: Setting, value: string): boolean =>
  holds === 'secret' || (holds === 'address' && /[@?]/.test(value));
