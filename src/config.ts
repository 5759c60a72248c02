/** Settings: the environment, validated once into a frozen object. Nothing else reads process.env. */
import { z } from 'zod';
import { parseOrigin } from './http/cors.ts';
import { parseBase } from './http/request/address.ts';
import { toErrorDetails } from './http/schema.ts';
import { parsePlace } from './media/store/place.ts';
import { parseAddress } from './storage/postgres/address.ts';
import { leastConnections } from './storage/postgres/pool.ts';
import { languages } from './storage/search/text/stems.ts';

/** A setting that cannot be used: one line that names it. */
export class ConfigError extends Error {}

const integer = (minimum: number, maximum: number) => z.coerce.number().int().min(minimum).max(maximum);
const flag = z.enum(['true', 'false', '1', '0']).transform(value => value === 'true' || value === '1');
const list = z.string().transform(text =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== ''),
);
const httpUrl = z.url({ protocol: /^https?$/ }).transform(text => text.replace(/(?<!\/)\/+$/, ''));
const secret = z
  .string()
  .min(32, 'needs at least 32 characters (HS256 asks for 256 bits, RFC 7518 section 3.2)');
const smtpUrl = z
  .url({ protocol: /^smtps?$/, abort: true })
  .refine(
    text =>
      /^smtps?:\/\/([^@/?#]*@)?[^@/?#:[\]]+(:\d+)?\/?$|^smtps?:\/\/([^@/?#]*@)?\[[\da-f:.]+\](:\d+)?\/?$/i.test(
        text,
      ),
    {
      error: 'names a server, and nothing after its port',
      abort: true,
    },
  )
  .refine(text => !/%(?![\da-f]{2})/i.test(text), 'needs % written as %25');
/** What `parse` makes of a text; what it throws names the broken rule. */
const buildParsedSchema = <Value>(parse: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error));
      return z.NEVER;
    }
  });
const longestSellerLine = 100;
const seller = z.string().transform((text, context): Seller => {
  const [name = '', ...address] = text.split('|').map(line => line.trim());
  if (name === '' || address.length > 8 || [name, ...address].some(line => line.length > longestSellerLine))
    context.addIssue(`must be a name and up to 8 lines of ${longestSellerLine} characters, separated by |`);
  return { name, address };
});
const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be a date such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z',
  })
  .transform(text => Date.parse(text));

/** Who issues invoices: a name and the lines of an address. */
export interface Seller {
  readonly name: string;
  readonly address: readonly string[];
}

/** Every setting with its rule, default and the line that `--help` prints. */
export const settings = {
  PORT: { schema: integer(0, 65_535).default(3000), help: 'port to listen on; 0 picks a free one (3000)' },
  HOST: { schema: z.string().min(1).default('0.0.0.0'), help: 'address to listen on (0.0.0.0)' },
  DATA_DIR: {
    schema: z.string().min(1).default('./data'),
    help: 'folder of the embedded database and its secret (./data)',
  },
  DATABASE_URL: {
    schema: buildParsedSchema(text => {
      parseAddress(text);
      return text;
    }).optional(),
    help: 'postgres://user:password@host:port/database, or several host:port separated by commas, of which the one that takes writes is used; unset: SQLite in DATA_DIR',
  },
  DATABASE_POOL: {
    schema: integer(leastConnections, 1000).default(10),
    help: 'connections to PostgreSQL at most (10)',
  },
  DATABASE_POOLER: {
    schema: z.enum(['none', 'session', 'transaction']).optional(),
    help: 'how a pooler such as PgBouncer in front of PostgreSQL lends connections: none, session or transaction; unset: detected',
  },
  DATABASE_TIMEOUT: {
    schema: integer(1, 25).default(20),
    help: 'seconds after which a statement of PostgreSQL is given up (20)',
  },
  DATABASE_LOCK_TIMEOUT: {
    schema: integer(1, 25).default(3),
    help: 'seconds after which a statement that waits for a row locked by another is given up, with 503 (3)',
  },
  MIGRATION_TIMEOUT: {
    schema: integer(1, 86_400).default(600),
    help: 'seconds that a start waits for the migrations of another process on PostgreSQL; on SQLite 10 (600)',
  },
  BASE_URL: {
    schema: buildParsedSchema(parseBase).optional(),
    help: 'public address for links, without /v1; unset: taken from the request',
  },
  JWT_SECRET: {
    schema: secret.optional(),
    help: 'signs tokens, 32 characters or more; required with DATABASE_URL, else generated into DATA_DIR',
  },
  JWT_PREVIOUS_SECRETS: {
    schema: list.pipe(z.array(secret)).default([]),
    help: 'comma-separated secrets whose tokens are still accepted',
  },
  ADMIN_EMAIL: { schema: z.email().optional(), help: 'first administrator, made when there is no user' },
  ADMIN_PASSWORD: {
    schema: z.string().min(10).max(200).optional(),
    help: 'the first administrator’s password, 10 characters or more',
  },
  RATE_LIMIT: {
    schema: integer(1, 1_000_000_000).default(1000),
    help: 'requests per caller and window (1000)',
  },
  RATE_LIMIT_STAFF: {
    schema: integer(1, 1_000_000_000).optional(),
    help: 'the same for administrators and editors; unset: as RATE_LIMIT',
  },
  RATE_WINDOW: { schema: integer(1, 86_400).default(3600), help: 'length of the window in seconds (3600)' },
  CORS_ORIGINS: {
    schema: list.pipe(z.array(buildParsedSchema(parseOrigin))).optional(),
    help: 'comma-separated origins, as https://shop.example, that browsers may call from; unset: any',
  },
  DEFAULT_CURRENCY: {
    schema: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .default('EUR'),
    help: 'ISO 4217 currency of products that name none (EUR)',
  },
  SEARCH_LANGUAGES: {
    schema: list.pipe(z.array(z.enum(languages))).default(['en', 'de']),
    help: `comma-separated languages whose forms of words are found as one (en,de): ${languages.join(', ')}; a comma alone: none`,
  },
  BODY_LIMIT: {
    schema: integer(1, 1_073_741_824).default(1_048_576),
    help: 'largest request body in bytes (1048576)',
  },
  MEDIA_URL: {
    schema: buildParsedSchema(parsePlace).optional(),
    help: 'where images are kept: s3://bucket/prefix?endpoint=https://…&region=…, or file:///folder that machines share; unset: DATA_DIR/media',
  },
  MEDIA_FILE_LIMIT: {
    schema: integer(1, 268_435_456).default(20_971_520),
    help: 'largest image in bytes (20971520)',
  },
  MEDIA_PIXEL_LIMIT: {
    schema: integer(1, 268_402_689).default(50_000_000),
    help: 'width times height of a JPEG at most, four fifths of it of other images, which take four bytes of memory a pixel (50000000)',
  },
  MEDIA_CACHE_LIMIT: {
    schema: integer(0, Number.MAX_SAFE_INTEGER).default(1_073_741_824),
    help: 'bytes of DATA_DIR/media-cache, where other sizes and formats of images are kept (1073741824)',
  },
  TRUST_PROXY: { schema: flag.default(false), help: 'believe X-Forwarded-For, -Proto and -Host (false)' },
  LOG_LEVEL: {
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    help: 'debug, info, warn, error or silent (info)',
  },
  SMTP_URL: {
    schema: smtpUrl.optional(),
    help: 'smtp://user:password@host:port, or smtps://; its certificate is verified (NODE_EXTRA_CA_CERTS names others to trust); unset: mail becomes files in DATA_DIR/outbox',
  },
  MAIL_FROM: {
    schema: z
      .string()
      .max(320)
      .regex(
        /^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
        'must be an address or "Name <address>"',
      )
      .default('Catalog <catalog@localhost>'),
    help: 'sender of all mail (Catalog <catalog@localhost>)',
  },
  MAIL_LIMIT: {
    schema: integer(1, 1_000_000_000).default(10),
    help: 'mails to one recipient in an hour; what is over it is not sent (10)',
  },
  MAIL_LIMIT_UNCONFIRMED: {
    schema: integer(1, 1_000_000_000).default(5),
    help: 'mails in 24 hours to an address that is not confirmed (5)',
  },
  INVOICE_SELLER: {
    schema: seller.default({ name: 'Catalog', address: [] }),
    help: 'who issues invoices: name and address lines, separated by | (Catalog)',
  },
  PASSWORD_RESET_URL: {
    schema: httpUrl.optional(),
    help: 'page for a new password that mails link to, with ?token=; unset: /password-reset here',
  },
  VERIFY_URL: {
    schema: httpUrl.optional(),
    help: 'page that confirms an e-mail address, with ?token=; unset: /verify here',
  },
  PAYMENT_BY_HAND: {
    schema: z.enum(['customers', 'staff']).default('customers'),
    help: 'who records payments where Stripe takes none: customers, of their own orders, or staff only (customers)',
  },
  ORDER_TIMEOUT: {
    schema: integer(1, 31_536_000).optional(),
    help: 'seconds after which an order that is not paid is cancelled and what it has reserved given back; unset: never',
  },
  STRIPE_SECRET_KEY: {
    schema: z.string().min(1).optional(),
    help: 'takes payments through Stripe; unset: a payment is recorded by hand',
  },
  STRIPE_WEBHOOK_SECRET: {
    schema: z.string().min(1).optional(),
    help: 'verifies what Stripe posts to /v1/webhooks/stripe; required with STRIPE_SECRET_KEY',
  },
  STRIPE_URL: {
    schema: httpUrl.default('https://api.stripe.com'),
    help: 'where Stripe is reached (https://api.stripe.com)',
  },
  WEATHER_URL: {
    schema: httpUrl.default('https://api.open-meteo.com'),
    help: 'weather provider, without /v1/forecast (https://api.open-meteo.com)',
  },
  GEOCODING_URL: {
    schema: httpUrl.default('https://geocoding-api.open-meteo.com'),
    help: 'finds the places of cities, without /v1/search (https://geocoding-api.open-meteo.com)',
  },
  EVENTS_RETENTION_DAYS: {
    schema: integer(1, 36_500).optional(),
    help: 'days after which events and deliveries given up are forgotten; unset: never',
  },
  METRICS_TOKEN: {
    schema: z.string().min(16).optional(),
    help: 'bearer token that /metrics asks for, 16 characters or more; unset: it serves only this machine',
  },
  STOP_DELAY: {
    schema: integer(0, 600).default(2),
    help: 'seconds that SIGTERM leaves load balancers to notice: /ready is 503, requests are still served (2)',
  },
  STOP_TIMEOUT: {
    schema: integer(0, 600).default(20),
    help: 'seconds that a stop waits for requests in flight (20)',
  },
  DEPRECATED_V1: { schema: moment.optional(), help: 'date since which /v1 is deprecated' },
  SUNSET_V1: { schema: moment.optional(), help: 'date after which /v1 may be gone' },
  SUCCESSOR_V1: { schema: httpUrl.optional(), help: 'address of the version that follows /v1' },
} as const;

type Settings = typeof settings;
export type Config = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> };

/**
 * @param environment usually process.env; empty values count as unset
 * @throws ConfigError naming the first setting that breaks its rule
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(settings)) {
    const text = environment[name]?.trim();
    const result = schema.safeParse(text === '' ? undefined : text);
    if (!result.success)
      throw new ConfigError(`${name}: ${formatReason(result.error)} (${getSettingHelp(name)})`);
    values[name] = result.data;
  }
  // Boundary: the loop above has given every name the output of its own schema.
  const config = Object.freeze(values) as Config;
  checkTogether(config);
  return config;
}

function checkTogether(config: Config): void {
  if (config.DATABASE_URL !== undefined && config.JWT_SECRET === undefined) {
    throw new ConfigError(
      'JWT_SECRET: required when DATABASE_URL is set, so that all replicas accept the same tokens',
    );
  }
  if (config.STRIPE_SECRET_KEY !== undefined && config.STRIPE_WEBHOOK_SECRET === undefined) {
    throw new ConfigError(
      'STRIPE_WEBHOOK_SECRET: required when STRIPE_SECRET_KEY is set, since Stripe confirms payments by webhook',
    );
  }
  if ((config.ADMIN_EMAIL === undefined) !== (config.ADMIN_PASSWORD === undefined)) {
    const missing = config.ADMIN_EMAIL === undefined ? 'ADMIN_EMAIL' : 'ADMIN_PASSWORD';
    throw new ConfigError(`${missing}: required when the other of ADMIN_EMAIL and ADMIN_PASSWORD is set`);
  }
}

function getSettingHelp(name: string): string {
  return Object.entries(settings).find(([key]) => key === name)?.[1].help ?? name;
}

/** The broken rule in the words that request bodies get. */
function formatReason(error: z.ZodError): string {
  return toErrorDetails(error)[0]?.message ?? 'is not valid';
}
