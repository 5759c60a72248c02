/** The prose of the document: how to use the interface, and the purpose of each group of operations. */
import { errorTable } from '../errors.ts';

export const title = 'Catalog';
export const summary = 'A product catalog and the resources around it, as JSON over HTTP.';

/** Groups not listed here are described by the summaries of their operations. */
export const tagTexts: Readonly<Record<string, string>> = {
  Authentication: 'Signing in, staying signed in, and signing out.',
  Users: 'The people who may sign in, and their roles.',
  'API keys': 'Credentials for programs: each has scopes, can expire and can be revoked.',
  Products: 'The catalog itself.',
  Variants: 'What is sold of a product: one variant for each combination of its options.',
  Categories: 'The tree that products are listed in.',
  Reviews: 'What users think of products: one review per user and product.',
  Orders: 'What users buy: prices are those of the moment of ordering.',
  Invoices: 'Issued when an order is paid, numbered without gaps.',
  Notifications: 'What has happened, for each user.',
  Articles: 'Texts of the editors.',
  Posts: 'Shorter texts, which users comment on.',
  Comments: 'What users say to posts.',
  Todos: 'Private lists of things to do.',
  Search: 'One search over everything the caller may read.',
  Data: 'Data for programs, with an API key.',
  Operation:
    'For operators and tools: health, metrics and this document. Outside the versions, and not charged to a quota.',
};

const errorRows = Object.entries(errorTable).map(
  ([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`,
);

export const description = `## Credentials
Post e-mail and password to \`/v1/auth/login\` and send the access token as \`Authorization: Bearer …\`; when it
expires, post the refresh token to \`/v1/auth/refresh\`. Programs send an API key as \`X-API-Key\`.

## Lists
Lists are \`{data, meta, links}\`. Go from page to page with \`page\` and \`perPage\`, or, where items come and go
while you read, with \`limit\` and \`cursor\`; \`links\` has the addresses of both. Ignore members and values you do
not know: new ones may be added within a version.

## Media types
Responses are JSON. Others, such as HAL and the media type of a version, are requested by naming them in \`Accept\`; each
response has them in \`x-alternative-content\`, described as \`content\` is.

## Unknown names
Query parameters and members that an operation does not know are ignored. With \`Prefer: handling=strict\` they are
refused (400), and the error names the nearest known name, if one is near.

## Safe writes
Every representation has an \`ETag\`. Send it as \`If-Match\` with PUT, PATCH and DELETE and nobody's change is
overwritten (412); send it as \`If-None-Match\` with GET and an unchanged resource costs nothing (304). Send
\`Idempotency-Key\` with POST and the request can be repeated. PATCH takes a partial object, a merge patch
(RFC 7396) or a JSON Patch (RFC 6902).

## HEAD and OPTIONS
HEAD works wherever GET does: the same parameters, credentials, status and headers, without the body. OPTIONS works
everywhere, without credentials: 204 with \`Allow\`, \`Accept-Patch\` and the response to a CORS preflight. Both are
described once, under \`components.pathItems.EveryPath\`, and hold for every path. So do the headers that only HEAD lists
there: \`Preference-Applied\`, those for browsers, and \`Deprecation\`, \`Sunset\` and \`Link\` of a version that will be removed.

## Quota
Every response carries \`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` and \`-Window\`. Beyond the limit the response is
429 with \`Retry-After\`.

## Errors
An error is \`{error, message, requestId, details?}\`, or \`application/problem+json\` when Accept names it. An address
that does not exist is 404, a method it does not take 405 with \`Allow\`. A request line and headers of more than
16 KiB together are 431, without a body. The codes that an operation may send are its \`x-errors\` and those of
\`components.pathItems.EveryPath\`, which any may send.

| Status | Code | Meaning |
| --- | --- | --- |
${errorRows.join('\n')}
`;
