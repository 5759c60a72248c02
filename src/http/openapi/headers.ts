/** Response headers, as shared components. */
import { getMemberNames } from '../../json-object.ts';
import { addValueTexts, type SchemaObject } from './schemas.ts';

interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
  readonly example: string | number;
}

const entityTag = '^(W/)?"[\\x21\\x23-\\x7e]+"$';
const httpDate = 'Thu, 15 Jan 2026 09:30:00 GMT';

/** Printable ASCII, as in header values. */
export const buildLineSchema = (maxLength = 1024): SchemaObject => ({
  type: 'string',
  maxLength,
  pattern: '^[\\x20-\\x7e]*$',
});
const date: SchemaObject = { type: 'string', maxLength: 29, pattern: '^[A-Z][a-z]{2}, .+ GMT$' };

const address: SchemaObject = { type: 'string', format: 'uri', maxLength: 16_384 };
const buildIntegerSchema = (maximum: number): SchemaObject => ({
  type: 'integer',
  format: maximum > 2_147_483_647 ? 'int64' : 'int32',
  minimum: 0,
  maximum,
});
const count = buildIntegerSchema(1_000_000_000);

const createHeaderBuilder =
  (isRequired: boolean) =>
  (description: string, example: string | number, schema = buildLineSchema()): HeaderObject => ({
    description,
    ...(isRequired ? { required: true } : {}),
    schema,
    example,
  });
const header = createHeaderBuilder(false);
/** A header that is always present in its kind of response. */
const always = createHeaderBuilder(true);

/** Headers of every response; the optional one is only sent to browsers. */
const common = {
  'X-Request-ID': always(
    'The X-Request-ID of the request, or a generated one if it has no valid one; logs carry the same.',
    '3f8e2a51-7c94-4b0d-9e16-52d7a0c4b8f3',
    buildLineSchema(255),
  ),
  'X-RateLimit-Limit': always('Requests allowed in the window.', 1000, count),
  'X-RateLimit-Remaining': always('Requests left in the window.', 999, count),
  'X-RateLimit-Reset': always(
    'When the window ends, in seconds since the Unix epoch.',
    1_768_471_200,
    buildIntegerSchema(9_007_199_254_740_991),
  ),
  'X-RateLimit-Window': always('Length of the window in seconds.', 3600, buildIntegerSchema(86_400)),
  RateLimit: always(
    'Requests left (r) and seconds until the window ends (t), as in the IETF draft. The name is `default` for the quota of the caller, another one for a limit of the operation.',
    '"default";r=999;t=1800',
  ),
  'RateLimit-Policy': always(
    'Requests per window (q) and its length in seconds (w), as in the IETF draft.',
    '"default";q=1000;w=3600',
  ),
  'Cache-Control': always(
    'Who may cache the response, and for how long.',
    'private, max-age=0, must-revalidate',
  ),
  Vary: always(
    'The request headers that the response depends on.',
    'Accept, Accept-Encoding, Origin, Prefer',
  ),
  'Access-Control-Allow-Origin': header(
    'The Origin of the request, if it may call from a browser.',
    'https://shop.example',
  ),
};

/**
 * Other headers that any response may have: for browsers and developers, or rare. They are described once, with HEAD
 * and OPTIONS: repeating only the rare ones for each response would take 4% of the document.
 */
const occasional = {
  'Preference-Applied': header(
    'Sent if `Prefer` was honoured: unknown parameters and members would have been refused.',
    'handling=strict',
    addValueTexts({ type: 'string', enum: ['handling=strict'] }),
  ),
  Deprecation: header(
    'When this version was deprecated (an HTTP date); absent while it is current.',
    httpDate,
    date,
  ),
  Sunset: header('When this version may be removed (RFC 8594); absent while it is current.', httpDate, date),
  Link: header(
    'The next version, with rel="successor-version" (RFC 8288).',
    '<https://shop.example/v2>; rel="successor-version"',
    buildLineSchema(16_384),
  ),
  'X-Content-Type-Options': always(
    'Keeps browsers from guessing another media type.',
    'nosniff',
    addValueTexts({ type: 'string', enum: ['nosniff'] }),
  ),
  'Server-Timing': always('Milliseconds spent in the service.', 'total;dur=0.412'),
  'Access-Control-Allow-Credentials': header(
    'Sent with Access-Control-Allow-Origin.',
    'true',
    addValueTexts({ type: 'string', enum: ['true'] }),
  ),
  'Access-Control-Expose-Headers': header(
    'The headers that a page of another origin may read.',
    'ETag, Location, Link, X-Request-ID, Retry-After',
  ),
};

const particular = {
  ETag: header(
    'The entity tag of this representation, for If-None-Match and If-Match.',
    '"0f343b0931126a20f133d67c2b018a3b"',
    { type: 'string', maxLength: 128, pattern: entityTag },
  ),
  'Last-Modified': header(
    'The end of the second in which the shown data last changed; sent once that second is over.',
    httpDate,
    date,
  ),
  'Content-Encoding': header(
    'The content coding, if Accept-Encoding allows one and compression is worthwhile.',
    'br',
    addValueTexts({ type: 'string', enum: ['br', 'zstd', 'gzip', 'deflate'] }),
  ),
  Location: always('The address of the created resource.', 'https://shop.example/v1/products/1', address),
  'Idempotency-Replayed': header(
    'The response is that of an earlier request with this Idempotency-Key.',
    'true',
    addValueTexts({ type: 'string', enum: ['true'] }),
  ),
  'Retry-After': header('Seconds to wait before sending the request again.', 30, buildIntegerSchema(86_400)),
  'WWW-Authenticate': always(
    'The challenge: Bearer (RFC 6750), with error="invalid_token" if a token was sent that is not valid; ApiKey if only API keys are accepted.',
    'Bearer realm="catalog", error="invalid_token", error_description="The token has expired"',
  ),
  'Accept-Ranges': header('Range can request parts of the file.', 'bytes'),
  'Content-Range': header('The size of the file in bytes.', 'bytes */48151'),
  Allow: always('The methods that this address supports.', 'GET, POST, HEAD, OPTIONS'),
  Accept: header('The media types that PUT accepts here.', 'application/json'),
  'Accept-Post': header('The media types that POST accepts here.', 'application/json'),
  'Accept-Patch': header(
    'The media types that PATCH accepts here (RFC 5789).',
    'application/json, application/merge-patch+json, application/json-patch+json',
  ),
  'Access-Control-Allow-Methods': always(
    'The methods that a page of another origin may use.',
    'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  ),
  'Access-Control-Allow-Headers': always(
    'The request headers that such a page may send; some only if the preflight names them.',
    'Authorization, Content-Type, X-Request-ID',
  ),
  'Access-Control-Max-Age': always(
    'Seconds for which a browser may cache this response.',
    86_400,
    buildIntegerSchema(86_400),
  ),
};

export const headers: Readonly<Record<string, HeaderObject>> = {
  ...common,
  ...occasional,
  ...particular,
};
export type ParticularHeader = keyof typeof particular | keyof typeof occasional;
export const occasionalHeaders = getMemberNames(occasional);

/** The common headers, and those of one response. */
export function buildHeaders(
  own: readonly ParticularHeader[],
  extra: Readonly<Record<string, string>> = {},
): Record<string, SchemaObject> {
  const names = [...Object.keys(common), ...own];
  const shared = names.map(name => [name, { $ref: `#/components/headers/${name}` }] as const);
  const described = Object.entries(extra)
    .filter(([name]) => !names.includes(name))
    .map(
      ([name, description]) =>
        [name, { description, schema: buildLineSchema(), example: 'example' }] as const,
    );
  return Object.fromEntries([...shared, ...described]);
}
