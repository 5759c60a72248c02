/** The headers of responses, as shared components. */
import { type SchemaObject, withValueTexts } from './schemas.ts';

interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
  readonly example: string | number;
}

const entityTag = '^(W/)?"[\\x21\\x23-\\x7e]+"$';
const httpDate = 'Thu, 15 Jan 2026 09:30:00 GMT';

/** Visible text, as header values are. */
export const line = (maxLength = 1024): SchemaObject => ({
  type: 'string',
  maxLength,
  pattern: '^[\\x20-\\x7e]*$',
});
const date: SchemaObject = { type: 'string', maxLength: 29, pattern: '^[A-Z][a-z]{2}, .+ GMT$' };

const address: SchemaObject = { type: 'string', format: 'uri', maxLength: 16_384 };
const whole = (maximum: number): SchemaObject => ({
  type: 'integer',
  format: maximum > 2_147_483_647 ? 'int64' : 'int32',
  minimum: 0,
  maximum,
});
const count = whole(1_000_000_000);

/** On every response; those that are not required, to browsers only or while a version is deprecated. */
const common = {
  'X-Request-ID': {
    description: 'The X-Request-ID of the request, or one made here; logs carry the same.',
    required: true,
    schema: line(255),
    example: '3f8e2a51-7c94-4b0d-9e16-52d7a0c4b8f3',
  },
  'X-RateLimit-Limit': {
    description: 'Requests allowed in the window.',
    required: true,
    schema: count,
    example: 1000,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the window.',
    required: true,
    schema: count,
    example: 999,
  },
  'X-RateLimit-Reset': {
    description: 'When the window ends, in seconds since the Unix epoch.',
    required: true,
    schema: whole(9_007_199_254_740_991),
    example: 1_768_471_200,
  },
  'X-RateLimit-Window': {
    description: 'Length of the window in seconds.',
    required: true,
    schema: whole(86_400),
    example: 3600,
  },
  RateLimit: {
    description: 'What is left (r) and the seconds until the window ends (t), as the IETF draft has it.',
    required: true,
    schema: line(),
    example: '"default";r=999;t=1800',
  },
  'RateLimit-Policy': {
    description: 'Requests per window (q) and its length in seconds (w), as the IETF draft has it.',
    required: true,
    schema: line(),
    example: '"default";q=1000;w=3600',
  },
  'Cache-Control': {
    description: 'Who may keep the response, and for how long.',
    required: true,
    schema: line(),
    example: 'private, max-age=0, must-revalidate',
  },
  Vary: {
    description: 'The request headers that the response depends on.',
    required: true,
    schema: line(),
    example: 'Accept, Accept-Encoding, Origin',
  },
  'Preference-Applied': {
    description: 'That unknown parameters and members would have been refused; when `Prefer` requested it.',
    schema: withValueTexts({ type: 'string', enum: ['handling=strict'] }),
    example: 'handling=strict',
  },
  'Access-Control-Allow-Origin': {
    description: 'The Origin of the request, when it may call from a browser.',
    schema: line(),
    example: 'https://shop.example',
  },
  Deprecation: {
    description: 'Since when this version is deprecated (an HTTP date); absent while it is current.',
    schema: date,
    example: httpDate,
  },
  Sunset: {
    description: 'After when this version may be gone (RFC 8594); absent while it is current.',
    schema: date,
    example: httpDate,
  },
  Link: {
    description: 'The version that follows, with rel="successor-version" (RFC 8288).',
    schema: line(16_384),
    example: '<https://shop.example/v2>; rel="successor-version"',
  },
} as const satisfies Record<string, HeaderObject>;

/** On every response too, for browsers and developers rather than programs: described once, with HEAD and OPTIONS. */
const forBrowsers = {
  'X-Content-Type-Options': {
    description: 'Keeps browsers from guessing another media type.',
    required: true,
    schema: withValueTexts({ type: 'string', enum: ['nosniff'] }),
    example: 'nosniff',
  },
  'Server-Timing': {
    description: 'Milliseconds spent in the service.',
    required: true,
    schema: line(),
    example: 'total;dur=0.412',
  },
  'Access-Control-Allow-Credentials': {
    description: 'With Access-Control-Allow-Origin.',
    schema: withValueTexts({ type: 'string', enum: ['true'] }),
    example: 'true',
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that a page of another origin may read.',
    schema: line(),
    example: 'ETag, Location, Link, X-Request-ID, Retry-After',
  },
} as const satisfies Record<string, HeaderObject>;

const particular = {
  ETag: {
    description: 'The entity tag of this representation, for If-None-Match and If-Match.',
    schema: { type: 'string', maxLength: 64, pattern: entityTag },
    example: '"0f343b0931126a20f133d67c2b018a3b"',
  },
  'Last-Modified': {
    description:
      'The end of the second in which what the body shows was last changed; sent once that second is over.',
    schema: date,
    example: httpDate,
  },
  'Content-Encoding': {
    description: 'The content coding, when Accept-Encoding allows one and the body is worth it.',
    schema: withValueTexts({ type: 'string', enum: ['br', 'zstd', 'gzip', 'deflate'] }),
    example: 'br',
  },
  Location: {
    description: 'The address of the resource that was made.',
    required: true,
    schema: address,
    example: 'https://shop.example/v1/products/1',
  },
  'Idempotency-Replayed': {
    description: 'The response is that of an earlier request with this Idempotency-Key.',
    schema: withValueTexts({ type: 'string', enum: ['true'] }),
    example: 'true',
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: whole(86_400),
    example: 30,
  },
  'WWW-Authenticate': {
    description:
      'The challenge: Bearer (RFC 6750), with error="invalid_token" when credentials were sent; ApiKey where only API keys are taken.',
    required: true,
    schema: line(),
    example: 'Bearer realm="catalog", error="invalid_token", error_description="The token has expired"',
  },
  Allow: {
    description: 'The methods of this address.',
    required: true,
    schema: line(),
    example: 'GET, POST, HEAD, OPTIONS',
  },
  Accept: { description: 'On PUT: the media types it takes.', schema: line(), example: 'application/json' },
  'Accept-Post': {
    description: 'On POST: the media types it takes.',
    schema: line(),
    example: 'application/json',
  },
  'Accept-Patch': {
    description: 'The media types that PATCH takes here (RFC 5789).',
    schema: line(),
    example: 'application/json, application/merge-patch+json, application/json-patch+json',
  },
  'Access-Control-Allow-Methods': {
    description: 'The methods that a page of another origin may use.',
    required: true,
    schema: line(),
    example: 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  },
  'Access-Control-Allow-Headers': {
    description: 'The request headers that it may send; more are named when the preflight asks for them.',
    required: true,
    schema: line(),
    example: 'Authorization, Content-Type, X-Request-ID',
  },
  'Access-Control-Max-Age': {
    description: 'Seconds for which a browser may cache this response.',
    required: true,
    schema: whole(86_400),
    example: 86_400,
  },
} as const satisfies Record<string, HeaderObject>;

export const headers: Readonly<Record<string, HeaderObject>> = {
  ...common,
  ...forBrowsers,
  ...particular,
};
export type ParticularHeader = keyof typeof particular | keyof typeof forBrowsers;
export const browserHeaders = [
  'X-Content-Type-Options',
  'Server-Timing',
  'Access-Control-Allow-Credentials',
  'Access-Control-Expose-Headers',
] as const;

/** The headers of every response, and those of this one. */
export function headersOf(
  own: readonly ParticularHeader[],
  extra: Readonly<Record<string, string>> = {},
): Record<string, SchemaObject> {
  const names = [...Object.keys(common), ...own];
  const shared = names.map(name => [name, { $ref: `#/components/headers/${name}` }] as const);
  const described = Object.entries(extra)
    .filter(([name]) => !names.includes(name))
    .map(([name, description]) => [name, { description, schema: line(), example: 'example' }] as const);
  return Object.fromEntries([...shared, ...described]);
}
