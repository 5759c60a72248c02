/** The prose of the document: how to use the interface, and the purpose of each group of operations. */
import { errorTable } from '../errors.ts';

export const title = 'Catalog';
export const summary = 'A product catalog and the resources around it, as JSON over HTTP.';

/** Groups not listed here are described by the summaries of their operations. */
export const tagTexts: Readonly<Record<string, string>> = {
  Authentication: 'Signing in, staying signed in, and signing out.',
  Users: 'The people who may sign in, and their roles.',
  'API keys': 'Credentials for programs: each has scopes, may expire and can be revoked.',
  Products: 'The catalog itself.',
  Variants: 'The forms in which a product is sold: one for each combination of its options.',
  Attributes: 'Definitions of the attributes that products may have.',
  Categories: 'The tree that products are listed in.',
  Stock: 'Adjustments of the stock of products and variants.',
  Images: 'The images of products.',
  Reviews: 'Opinions of users on products: one review per user and product.',
  Orders: 'Orders of users, at the prices of the moment of ordering.',
  Invoices: 'Issued when an order is paid, numbered without gaps.',
  Notifications: 'Messages to each user about events.',
  Articles: 'Texts by editors.',
  Posts: 'Shorter texts that users can comment on.',
  Comments: 'Comments of users on posts.',
  Todos: 'Private to-do lists.',
  Search: 'Search in everything that the caller may read.',
  Data: 'Data for programs that have an API key.',
  Events: 'The audit trail: what was changed, and by whom.',
  Media: 'Image files, in several sizes and formats.',
  Operation:
    'For operators and tools: entry points, health, metrics and this document. Exempt from the quota.',
};

const errorRows = Object.entries(errorTable).map(
  ([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`,
);

export const description = `## Credentials
Post e-mail and password to \`/v1/auth/login\` and send the access token as \`Authorization: Bearer …\`; when it
expires, post the refresh token to \`/v1/auth/refresh\`. Programs send an API key as \`X-API-Key\`.

## Lists
Lists are \`{data, meta, links}\`. Page through them with \`page\` and \`perPage\` or, if items are added and deleted
while you read, with \`limit\` and \`cursor\`; \`links\` has the addresses for both. Ignore members and values that you
do not know: new ones may be added within a version.

## Media types
Responses are JSON. To get another media type, such as HAL or that of a version, name it in \`Accept\`. This document
describes the others in \`x-alternative-content\` of each response, in the form of \`content\`.

## Unknown names
Query parameters and members that an operation does not know are ignored. With \`Prefer: handling=strict\` they are
refused (400), and the error suggests a similar known name, if any.

## Safe writes
Every representation has an \`ETag\`. Send it as \`If-Match\` with PUT, PATCH and DELETE to avoid overwriting changes of
others (412). Send it as \`If-None-Match\` with GET: an unchanged resource costs nothing (304). Send
\`Idempotency-Key\` with POST to make the request safe to repeat. PATCH takes a partial object, a merge patch
(RFC 7396) or a JSON Patch (RFC 6902). A partial object replaces each member as a whole: with
\`{"attributes": {"watt": 6}}\` no other attribute is left. Only \`stock\` and the entries of \`images\` keep members that
it omits. A merge patch merges objects.

## HEAD and OPTIONS
HEAD works wherever GET does, with the same parameters, credentials, status and headers, but without the body. OPTIONS
works everywhere, without credentials: 204 with \`Allow\`, \`Accept-Patch\` and the response to a CORS preflight. Both are
described once, under \`components.pathItems.EveryPath\`, for every path. The headers that only HEAD lists there also
apply to every path: \`Preference-Applied\`, those for browsers, and \`Deprecation\`, \`Sunset\` and \`Link\` of a version
that will be removed.

## Quota
Every response carries \`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` and \`-Window\`. Above the limit, the response is
429 with \`Retry-After\`.

## Errors
An error is \`{error, message, requestId, details?}\`, or \`application/problem+json\` if Accept names it. An address
that does not exist gets 404, a method that it does not support 405 with \`Allow\`. A request line and headers of more
than 16 KiB in total get 431, without a body. An operation may send the codes in its \`x-errors\` and those of
\`components.pathItems.EveryPath\`.

| Status | Code | Meaning |
| --- | --- | --- |
${errorRows.join('\n')}
`;
