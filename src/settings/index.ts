/** Every setting: its rule, its default, and the line that `--help` prints. */
import { z } from 'zod';
import { parseOrigin } from '../http/cors.ts';
import { parseBase } from '../http/request/address.ts';
import { currencyCode, emailAddress } from '../http/schema.ts';
import { parseStoreLocation } from '../media/store/location.ts';
import { parseAddress } from '../storage/postgres/address.ts';
import { minConnections } from '../storage/postgres/pool.ts';
import { languages } from '../storage/search/text/stems.ts';
import {
  buildParsedSchema,
  flag,
  headerText,
  httpUrl,
  integer,
  list,
  moment,
  originUrl,
  rootUrl,
  secret,
  seller,
  smtpUrl,
  timeZone,
} from './values.ts';

export interface Setting {
  /** The rule for the text of the setting or its default; optional if there is no default. */
  readonly schema: z.ZodType;
  readonly help: string;
  /** As an operator would set it. */
  readonly default?: string;
  /** Whether messages may quote the value: `secret` never, `address` unless it may contain credentials. */
  readonly holds?: 'secret' | 'address';
}

export const settings = {
  PORT: { schema: integer(0, 65_535), default: '3000', help: 'port to listen on; 0 picks a free one' },
  HOST: { schema: z.string().min(1), default: '0.0.0.0', help: 'address to listen on' },
  DATA_DIR: {
    schema: z.string().min(1),
    default: './data',
    help: 'folder of the embedded database, its secret, images, and mail that is written to files',
  },
  DATABASE_URL: {
    schema: buildParsedSchema(text => {
      parseAddress(text);
      return text;
    }).optional(),
    holds: 'secret',
    help: 'postgres://user:password@host:port/database, or several host:port separated by commas, of which the one that accepts writes is used; unset: SQLite in DATA_DIR',
  },
  DATABASE_POOL: {
    schema: integer(minConnections, 1000),
    default: '10',
    help: 'maximum number of connections to PostgreSQL',
  },
  DATABASE_POOLER: {
    schema: z.enum(['none', 'session', 'transaction']).optional(),
    help: 'mode of a pooler such as PgBouncer in front of PostgreSQL: none, session or transaction; unset: detected',
  },
  DATABASE_TIMEOUT: {
    schema: integer(1, 25),
    default: '20',
    help: 'seconds after which a PostgreSQL statement is cancelled',
  },
  DATABASE_LOCK_TIMEOUT: {
    schema: integer(1, 25),
    default: '3',
    help: 'seconds that a PostgreSQL statement waits for a locked row; then the response is 503',
  },
  MIGRATION_TIMEOUT: {
    schema: integer(1, 86_400),
    default: '600',
    help: 'seconds that startup waits for migrations by another process on PostgreSQL; always 10 on SQLite',
  },
  BASE_URL: {
    schema: buildParsedSchema(parseBase).optional(),
    holds: 'address',
    help: 'public address for links, without /v1; unset: taken from the request',
  },
  JWT_SECRET: {
    schema: secret.optional(),
    holds: 'secret',
    help: 'secret that signs tokens, 32 characters or more; required with DATABASE_URL, otherwise generated in DATA_DIR',
  },
  JWT_PREVIOUS_SECRETS: {
    schema: list.pipe(z.array(secret)).default([]),
    holds: 'secret',
    help: 'comma-separated secrets whose tokens are still accepted',
  },
  ADMIN_EMAIL: {
    schema: emailAddress.optional(),
    help: 'e-mail address of the first administrator, created if there are no users',
  },
  ADMIN_PASSWORD: {
    schema: z.string().min(10).max(200).optional(),
    holds: 'secret',
    help: 'password of the first administrator, 10 characters or more',
  },
  RATE_LIMIT: {
    schema: integer(1, 1_000_000_000),
    default: '1000',
    help: 'requests allowed per caller and window',
  },
  RATE_LIMIT_STAFF: {
    schema: integer(1, 1_000_000_000).optional(),
    help: 'the same for administrators and editors; unset: as RATE_LIMIT',
  },
  RATE_WINDOW: { schema: integer(1, 86_400), default: '3600', help: 'length of the window in seconds' },
  CORS_ORIGINS: {
    schema: list.pipe(z.array(buildParsedSchema(parseOrigin))).optional(),
    holds: 'address',
    help: 'comma-separated origins, such as https://shop.example, that browsers may call from; unset: any',
  },
  DEFAULT_CURRENCY: {
    schema: currencyCode,
    default: 'EUR',
    help: 'ISO 4217 currency of products created without one',
  },
  SEARCH_LANGUAGES: {
    schema: list.pipe(z.array(z.enum(languages))),
    default: 'en,de',
    help: `comma-separated languages whose word forms match each other in searches: ${languages.join(', ')}; a comma alone: none`,
  },
  BODY_LIMIT: {
    schema: integer(1, 1_073_741_824),
    default: '1048576',
    help: 'largest request body in bytes',
  },
  MEDIA_URL: {
    schema: buildParsedSchema(parseStoreLocation).optional(),
    holds: 'secret',
    help: 'where images are stored: s3://bucket/prefix?endpoint=https://…&region=…, or a shared file:///folder; unset: DATA_DIR/media',
  },
  MEDIA_FILE_LIMIT: {
    schema: integer(1, 268_435_456),
    default: '20971520',
    help: 'largest image in bytes',
  },
  MEDIA_PIXEL_LIMIT: {
    schema: integer(1, 268_402_689),
    default: '50000000',
    help: 'largest JPEG in pixels (width × height); other formats: four fifths of it',
  },
  MEDIA_CACHE_LIMIT: {
    schema: integer(0, Number.MAX_SAFE_INTEGER),
    default: '1073741824',
    help: 'maximum size in bytes of DATA_DIR/media-cache, which holds other sizes and formats of images',
  },
  TRUST_PROXY: { schema: flag, default: 'false', help: 'trust X-Forwarded-For, -Proto and -Host' },
  LOG_LEVEL: {
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']),
    default: 'info',
    help: 'debug, info, warn, error or silent',
  },
  SMTP_URL: {
    schema: smtpUrl.optional(),
    holds: 'secret',
    help: 'smtp://user:password@host:port, or smtps://; its certificate is verified (NODE_EXTRA_CA_CERTS adds trusted ones); unset: mail is written to DATA_DIR/outbox',
  },
  MAIL_FROM: {
    schema: z
      .string()
      .max(320)
      .regex(
        /^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
        'must be an e-mail address, or a name and the address in angle brackets: Shop <shop@shop.example>',
      ),
    default: 'Catalog <catalog@localhost>',
    help: 'sender of all mail',
  },
  MAIL_LIMIT: {
    schema: integer(1, 1_000_000_000),
    default: '10',
    help: 'mails to one recipient in any hour; further ones are not sent',
  },
  MAIL_LIMIT_UNCONFIRMED: {
    schema: integer(1, 1_000_000_000),
    default: '5',
    help: 'mails to an unconfirmed address in any 24 hours',
  },
  INVOICE_SELLER: {
    schema: seller,
    default: 'Catalog',
    help: 'issuer of invoices: name and address lines, separated by |',
  },
  INVOICE_TIME_ZONE: {
    schema: timeZone,
    default: 'UTC',
    help: 'time zone of the dates of invoices, such as Europe/Berlin; issued invoices keep theirs',
  },
  PASSWORD_RESET_URL: {
    schema: httpUrl.optional(),
    holds: 'address',
    help: 'page that sets a new password, which mails link to with ?token=; unset: /password-reset of the service',
  },
  VERIFY_URL: {
    schema: httpUrl.optional(),
    holds: 'address',
    help: 'page that confirms an e-mail address, which mails link to with ?token=; unset: /verify of the service',
  },
  PAYMENT_BY_HAND: {
    schema: z.enum(['customers', 'staff']),
    default: 'customers',
    help: 'who records payments without Stripe: customers, of their own orders, or only staff',
  },
  ORDER_TIMEOUT: {
    schema: integer(1, 31_536_000).optional(),
    help: 'seconds after which an unpaid order is cancelled and its reserved stock released; unset: never',
  },
  STRIPE_SECRET_KEY: {
    schema: headerText
      .regex(/^[sr]k_./, 'must be a secret or restricted key of Stripe: sk_… or rk_…')
      .optional(),
    holds: 'secret',
    help: 'secret key to take payments through Stripe; unset: payments are recorded by hand',
  },
  STRIPE_WEBHOOK_SECRET: {
    schema: z
      .string()
      .regex(/^whsec_./, 'must be the signing secret of a webhook endpoint of Stripe: whsec_…')
      .optional(),
    holds: 'secret',
    help: 'secret that verifies the reports of Stripe to /v1/webhooks/stripe; required with STRIPE_SECRET_KEY',
  },
  STRIPE_URL: {
    schema: originUrl,
    default: 'https://api.stripe.com',
    holds: 'address',
    help: 'address of the Stripe API',
  },
  WEATHER_URL: {
    schema: rootUrl,
    default: 'https://api.open-meteo.com',
    holds: 'address',
    help: 'address of the weather provider, without /v1/forecast',
  },
  GEOCODING_URL: {
    schema: rootUrl,
    default: 'https://geocoding-api.open-meteo.com',
    holds: 'address',
    help: 'address of the provider that locates cities, without /v1/search',
  },
  EVENTS_RETENTION_DAYS: {
    schema: integer(1, 36_500).optional(),
    help: 'days after which events and abandoned deliveries are deleted; unset: never',
  },
  METRICS_TOKEN: {
    schema: headerText.min(16).optional(),
    holds: 'secret',
    help: 'bearer token that /metrics requires, 16 ASCII characters or more; unset: only this machine may read it',
  },
  STOP_DELAY: {
    schema: integer(0, 600),
    default: '2',
    help: 'seconds after SIGTERM during which requests are still served and /ready responds 503',
  },
  STOP_TIMEOUT: {
    schema: integer(0, 600),
    default: '20',
    help: 'seconds that shutdown waits for requests in flight',
  },
  DEPRECATED_V1: { schema: moment.optional(), help: 'date since which /v1 is deprecated' },
  SUNSET_V1: { schema: moment.optional(), help: 'date after which /v1 may be removed' },
  SUCCESSOR_V1: {
    schema: httpUrl.optional(),
    holds: 'address',
    help: 'address of the successor of /v1',
  },
} as const satisfies Readonly<Record<string, Setting>>;
