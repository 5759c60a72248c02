/** The schema of API keys. */
import { z } from 'zod';
import { buildCollectionSchema, listParameters } from '../../http/paginate.ts';
import { buildDateTime, identifier, text, timestamp } from '../../http/schema.ts';

/** What a key may do: `<resource>:read` or `<resource>:write`. */
export const scopes = [
  'products:read',
  'products:write',
  'reviews:read',
  'reviews:write',
  'users:read',
  'users:write',
  'orders:read',
  'orders:write',
  'invoices:read',
  'invoices:write',
  'content:read',
  'content:write',
  'search:read',
  'data:read',
  'events:read',
] as const;

const fields = {
  name: text(100)
    .describe('The purpose of the key.')
    .meta({ examples: ['Price import'] }),
  scopes: z
    .array(z.enum(scopes).meta({ id: 'Scope', description: 'A right of a key.' }))
    .min(1)
    .max(scopes.length),
};

/** The key's own limit; the range is that of the setting RATE_LIMIT. */
const rateLimit = z
  .int()
  .min(1)
  .max(1_000_000_000)
  .nullable()
  .describe('Requests per window of the quota; null for the default limit.')
  .meta({ examples: [20_000] });

/** The last moment that can be shown: in UTC, a timestamp has four digits for the year. */
const lastMoment = Date.parse('9999-12-31T23:59:59.999Z');

/** A moment with an offset from UTC, which can carry it into the year 10000. */
export const expiry = buildDateTime().refine(moment => !(Date.parse(moment) > lastMoment), {
  error: 'must be before the year 10000 in UTC',
  params: { rule: 'maximum' },
});

export const createKey = z
  .object({
    ...fields,
    expiresAt: expiry.nullish(),
    rateLimit: rateLimit.optional(),
  })
  .meta({ id: 'CreateApiKey' });

export const apiKey = z
  .object({
    id: identifier(),
    ...fields,
    rateLimit,
    prefix: z
      .string()
      .max(16)
      .describe('The first characters of the key, to recognise it.')
      .meta({ pattern: '^ck_[\\w-]+$', examples: ['ck_9fJ2mQ'] }),
    expiresAt: timestamp().nullable(),
    lastUsedAt: timestamp().nullable().describe('When it was last used, to the minute.'),
    createdAt: timestamp(),
  })
  .meta({ id: 'ApiKey' });

export const apiKeyWithSecret = apiKey
  .extend({
    key: z
      .string()
      .max(100)
      .describe('Shown only once: store it now.')
      .meta({ pattern: '^ck_[\\w-]+$', examples: ['ck_9fJ2mQe7TzL4wXb1RkVn8sYpHc5Ud0GaEoKi6Nt3MjB'] }),
  })
  .meta({ id: 'ApiKeyWithSecret' });

export const apiKeyList = buildCollectionSchema(apiKey, 'ApiKeyList');
export const sortColumns = { id: 'id', name: 'name', createdAt: 'created_at' } as const;
export const listKeys = z.object(listParameters(sortColumns));

export type ApiKey = z.output<typeof apiKey>;
export type NewApiKey = z.output<typeof createKey>;
