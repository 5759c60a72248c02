/** Every setting: its rule, its default, and the line that `--help` prints. */
import { z } from 'zod';
import { parseOrigin } from '../http/cors.ts';
import { parseBase } from '../http/request/address.ts';
import { currencyCode } from '../http/schema.ts';
import { parseStoreLocation } from '../media/store/location.ts';
import { parseAddress } from '../storage/postgres/address.ts';
import { leastConnections } from '../storage/postgres/pool.ts';
import { languages } from '../storage/search/text/stems.ts';
import {
  buildParsedSchema,
  flag,
  httpUrl,
  integer,
  list,
  moment,
  secret,
  seller,
  smtpUrl,
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
    help: 'folder of the embedded database and its secret',
  },
  DATABASE_URL: {
    schema: buildParsedSchema(text => {
      parseAddress(text);
      return text;
    }).optional(),
    holds: 'secret',
    help: 'postgres://user:password@host:port/database, or several host:port separated by commas, of which the one that takes writes is used; unset: SQLite in DATA_DIR',
  },
  DATABASE_POOL: {
    schema: integer(leastConnections, 1000),
    default: '10',
    help: 'connections to PostgreSQL at most',
  },
  DATABASE_POOLER: {
    schema: z.enum(['none', 'session', 'transaction']).optional(),
    help: 'how a pooler such as PgBouncer in front of PostgreSQL lends connections: none, session or transaction; unset: detected',
  },
  DATABASE_TIMEOUT: {
    schema: integer(1, 25),
    default: '20',
    help: 'seconds after which a statement of PostgreSQL is given up',
  },
  DATABASE_LOCK_TIMEOUT: {
    schema: integer(1, 25),
    default: '3',
    help: 'seconds after which a statement that waits for a row locked by another is given up, with 503',
  },
  MIGRATION_TIMEOUT: {
    schema: integer(1, 86_400),
    default: '600',
    help: 'seconds that a start waits for the migrations of another process on PostgreSQL; on SQLite 10',
  },
  BASE_URL: {
    schema: buildParsedSchema(parseBase).optional(),
    holds: 'address',
    help: 'public address for links, without /v1; unset: taken from the request',
  },
  JWT_SECRET: {
    schema: secret.optional(),
    holds: 'secret',
    help: 'signs tokens, 32 characters or more; required with DATABASE_URL, else generated into DATA_DIR',
  },
  JWT_PREVIOUS_SECRETS: {
    schema: list.pipe(z.array(secret)).default([]),
    holds: 'secret',
    help: 'comma-separated secrets whose tokens are still accepted',
  },
  ADMIN_EMAIL: {
    schema: z.email('must be an e-mail address').optional(),
    help: 'first administrator, made when there is no user',
  },
  ADMIN_PASSWORD: {
    schema: z.string().min(10).max(200).optional(),
    holds: 'secret',
    help: 'the first administrator’s password, 10 characters or more',
  },
  RATE_LIMIT: {
    schema: integer(1, 1_000_000_000),
    default: '1000',
    help: 'requests per caller and window',
  },
  RATE_LIMIT_STAFF: {
    schema: integer(1, 1_000_000_000).optional(),
    help: 'the same for administrators and editors; unset: as RATE_LIMIT',
  },
  RATE_WINDOW: { schema: integer(1, 86_400), default: '3600', help: 'length of the window in seconds' },
  CORS_ORIGINS: {
    schema: list.pipe(z.array(buildParsedSchema(parseOrigin))).optional(),
    holds: 'address',
    help: 'comma-separated origins, as https://shop.example, that browsers may call from; unset: any',
  },
  DEFAULT_CURRENCY: {
    schema: currencyCode,
    default: 'EUR',
    help: 'ISO 4217 currency of products that name none',
  },
  SEARCH_LANGUAGES: {
    schema: list.pipe(z.array(z.enum(languages))),
    default: 'en,de',
    help: `comma-separated languages whose forms of words are found as one: ${languages.join(', ')}; a comma alone: none`,
  },
  BODY_LIMIT: {
    schema: integer(1, 1_073_741_824),
    default: '1048576',
    help: 'largest request body in bytes',
  },
  MEDIA_URL: {
    schema: buildParsedSchema(parseStoreLocation).optional(),
    holds: 'secret',
    help: 'where images are kept: s3://bucket/prefix?endpoint=https://…&region=…, or file:///folder that machines share; unset: DATA_DIR/media',
  },
  MEDIA_FILE_LIMIT: {
    schema: integer(1, 268_435_456),
    default: '20971520',
    help: 'largest image in bytes',
  },
  MEDIA_PIXEL_LIMIT: {
    schema: integer(1, 268_402_689),
    default: '50000000',
    help: 'largest JPEG in pixels (width × height); four fifths of it for other formats',
  },
  MEDIA_CACHE_LIMIT: {
    schema: integer(0, Number.MAX_SAFE_INTEGER),
    default: '1073741824',
    help: 'bytes of DATA_DIR/media-cache, where other sizes and formats of images are kept',
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
    help: 'smtp://user:password@host:port, or smtps://; its certificate is verified (NODE_EXTRA_CA_CERTS names others to trust); unset: mail becomes files in DATA_DIR/outbox',
  },
  MAIL_FROM: {
    schema: z
      .string()
      .max(320)
      .regex(
        /^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
        'must be an address or "Name <address>"',
      ),
    default: 'Catalog <catalog@localhost>',
    help: 'sender of all mail',
  },
  MAIL_LIMIT: {
    schema: integer(1, 1_000_000_000),
    default: '10',
    help: 'mails to one recipient in any hour; what is over it is not sent',
  },
  MAIL_LIMIT_UNCONFIRMED: {
    schema: integer(1, 1_000_000_000),
    default: '5',
    help: 'mails in any 24 hours to an address that is not confirmed',
  },
  INVOICE_SELLER: {
    schema: seller,
    default: 'Catalog',
    help: 'who issues invoices: name and address lines, separated by |',
  },
  PASSWORD_RESET_URL: {
    schema: httpUrl.optional(),
    holds: 'address',
    help: 'page for a new password that mails link to, with ?token=; unset: /password-reset here',
  },
  VERIFY_URL: {
    schema: httpUrl.optional(),
    holds: 'address',
    help: 'page that confirms an e-mail address, with ?token=; unset: /verify here',
  },
  PAYMENT_BY_HAND: {
    schema: z.enum(['customers', 'staff']),
    default: 'customers',
    help: 'who records payments where Stripe takes none: customers, of their own orders, or staff only',
  },
  ORDER_TIMEOUT: {
    schema: integer(1, 31_536_000).optional(),
    help: 'seconds after which an order that is not paid is cancelled and its reserved stock released; unset: never',
  },
  STRIPE_SECRET_KEY: {
    schema: z
      .string()
      .regex(/^[sr]k_./, 'must be a secret or restricted key of Stripe: sk_… or rk_…')
      .optional(),
    holds: 'secret',
    help: 'takes payments through Stripe; unset: a payment is recorded by hand',
  },
  STRIPE_WEBHOOK_SECRET: {
    schema: z
      .string()
      .regex(/^whsec_./, 'must be the signing secret of a webhook endpoint of Stripe: whsec_…')
      .optional(),
    holds: 'secret',
    help: 'verifies what Stripe posts to /v1/webhooks/stripe; required with STRIPE_SECRET_KEY',
  },
  STRIPE_URL: {
    schema: httpUrl,
    default: 'https://api.stripe.com',
    holds: 'address',
    help: 'where Stripe is reached',
  },
  WEATHER_URL: {
    schema: httpUrl,
    default: 'https://api.open-meteo.com',
    holds: 'address',
    help: 'weather provider, without /v1/forecast',
  },
  GEOCODING_URL: {
    schema: httpUrl,
    default: 'https://geocoding-api.open-meteo.com',
    holds: 'address',
    help: 'finds the places of cities, without /v1/search',
  },
  EVENTS_RETENTION_DAYS: {
    schema: integer(1, 36_500).optional(),
    help: 'days after which events and deliveries that were given up are deleted; unset: never',
  },
  METRICS_TOKEN: {
    schema: z.string().min(16).optional(),
    holds: 'secret',
    help: 'bearer token that /metrics requires, 16 characters or more; unset: it serves only this machine',
  },
  STOP_DELAY: {
    schema: integer(0, 600),
    default: '2',
    help: 'seconds after SIGTERM during which requests are still served and /ready is 503',
  },
  STOP_TIMEOUT: {
    schema: integer(0, 600),
    default: '20',
    help: 'seconds that a stop waits for requests in flight',
  },
  DEPRECATED_V1: { schema: moment.optional(), help: 'date since which /v1 is deprecated' },
  SUNSET_V1: { schema: moment.optional(), help: 'date after which /v1 may be gone' },
  SUCCESSOR_V1: {
    schema: httpUrl.optional(),
    holds: 'address',
    help: 'address of the version that follows /v1',
  },
} as const satisfies Readonly<Record<string, Setting>>;
