/** Search over HTTP: one address for everything that the caller may read. */
import type { z } from 'zod';
import { admins, allow, type Caller, type Role, roles, staff } from '../../http/access.ts';
import { createCachedLists } from '../../http/cache/index.ts';
import { createEndpoint, type Endpoint, type RequestUrl } from '../../http/endpoint.ts';
import { createFieldError, HttpError } from '../../http/errors.ts';
import { formatEnvelope } from '../../http/paginate.ts';
import { type Reply, replyOk } from '../../http/response/reply.ts';
import { hasAtMost } from '../../http/schema.ts';
import type { Condition, ListRequest } from '../../storage/list/request.ts';
import { type SearchType, searchCollection, searchTypes } from '../../storage/search/index.ts';
import { requireKnownAttributes } from '../attributes/filters.ts';
import { attributeDefinitions, type Definitions } from '../attributes/store.ts';
import { createUsedAttributes } from '../attributes/used.ts';
import { may } from '../context.ts';
import { buildConditions } from '../products/list.ts';
import { sortColumns } from '../products/schema.ts';
import type { Stores } from '../stores.ts';
import { synonymCollection } from '../synonyms/store.ts';
import type { SearchRequest } from './results.ts';
import * as schema from './schema.ts';
import type { Hit } from './sources.ts';
import type { SearchResult } from './store.ts';
import { createFacetedSearch } from './with-facets.ts';

/** For each type of document: its path, the roles that may read it, and the scope that an API key needs. */
const places: Readonly<Record<SearchType, { path: string; readers: readonly Role[]; scope: string }>> = {
  product: { path: 'products', readers: roles, scope: 'products:read' },
  article: { path: 'articles', readers: roles, scope: 'content:read' },
  post: { path: 'posts', readers: roles, scope: 'content:read' },
  order: { path: 'orders', readers: staff, scope: 'orders:read' },
  user: { path: 'users', readers: admins, scope: 'users:read' },
};

export function createSearchEndpoints(stores: Stores): Endpoint[] {
  const { database, paginator, search: store, suggest, definitions, facets, variants } = stores;
  const cached = createCachedLists(database, [
    { name: searchCollection },
    // Any change counts: facets include products that fail their own filter, and rarity depends on all products.
    { name: 'products' },
    attributeDefinitions,
    synonymCollection,
    { name: 'categories' },
  ]);
  const used = createUsedAttributes(database);
  return [
    createEndpoint({
      method: 'GET',
      path: '/search/suggest',
      operationId: 'suggest',
      summary: 'Suggest completions of a query',
      description:
        'Suggests words that complete the last one, categories and products, from what the caller may read. Names that have the words as typed come before names with other forms of them. Typing errors are tolerated only in words that no product has. Suggested words come from names that have the preceding words as typed; if there are none, from other texts that have these words.',
      tag: 'Search',
      access: allow.everyone('search:read'),
      query: schema.suggest,
      responses: { 200: { description: 'The suggestions.', schema: schema.suggestions } },
      handle({ query, caller, url }) {
        const visible = searchTypes.filter(candidate => mayRead(caller, candidate));
        const key = `${visible.join()} ${url.base}${url.path}?${url.search}`;
        return cached.respond(
          key,
          () => paginator.request({}, [], {}, 'suggest'),
          async () => {
            const found = await suggest(query.q, visible);
            const root = url.base + url.path.replace(/\/search\/suggest$/, '');
            const body = JSON.stringify({
              words: found.words.filter(text => hasAtMost(text, schema.maxQueryLength)),
              categories: found.categories.map(row => ({ ...row, url: `${root}/categories/${row.id}` })),
              products: found.products.map(hit => toShownHit(hit, url)),
            });
            return { body, rows: [], isProvisional: found.isProvisional };
          },
        );
      },
    }),
    createEndpoint({
      method: 'GET',
      path: '/search',
      operationId: 'search',
      summary: 'Search',
      description:
        'Finds products, articles and posts; for staff also orders, for administrators also users. An API key finds what its other scopes let it read. `status=archived`, for staff, searches archived products instead of active ones; the facet `status` counts those searched. The best hits come first: all words before some, names before descriptions, rare words before common ones, exact words before other forms and typing errors. Filters, `sort` and `facets` are those of the list of products; with any of them, only products are found. Filters remove hits from the unfiltered result, so a facet counts for each value the `total` with that value as filter. If no hit matches the filters, products with some of the words are found instead; with another value of a facet there may then be more than it counts. With `sort` or `order`, only hits with all words are listed and counted if there are any; otherwise hits with some words are, and `meta.relaxed` has the missing words.',
      tag: 'Search',
      access: allow.everyone('search:read'),
      query: schema.search,
      responses: { 200: { description: 'One page of hits, best first.', schema: schema.searchResults } },
      errors: ['FORBIDDEN', 'INVALID_CURSOR'],
      async handle({ query, caller, url, strict }) {
        const { visible, types } = resolveTypes(query, caller);
        const isPlain = query.attributes === undefined && query.facets === undefined;
        const respond = async (defined: Definitions, requireCurrent = () => {}): Promise<Reply> => {
          if (strict) await requireKnownAttributes(query.attributes, defined, used);
          const names = await facets.names(query.facets, defined);
          const { status, sku, ...filters } = query;
          // The SKU of a product or of a variant.
          const id = sku === undefined ? undefined : await variants.productOfSku(database.read, sku);
          const coded = id === undefined ? { sku: sku === undefined ? undefined : [sku] } : { id: [id] };
          const conditions = buildConditions({ ...filters, ...coded }, defined);
          const buildRequest = () => {
            const bound = [...buildBoundConditions(query, types, visible), ...conditions];
            return paginator.request(query, bound, sortColumns, 'search');
          };
          const search = (request: ListRequest, narrowed: Partial<SearchRequest> = {}) =>
            store.search({
              query: query.q,
              visible,
              types,
              page: request.page,
              archived: status === 'archived',
              conditions,
              order: query.sort === undefined && query.order === undefined ? undefined : request.order,
              ...narrowed,
            });
          const countFacets = createFacetedSearch(facets, { facets: names, conditions }, status);
          const readPage = async (request: ListRequest) => {
            const { found, members } =
              names.length === 0
                ? { found: await search(request), members: undefined }
                : await countFacets(narrowed => search(request, narrowed));
            const texts = found.rows.map(({ hit }) => JSON.stringify(toShownHit(hit, url)));
            const extra = formatMeta(found, members);
            const page = paginator.page(found, request, { list: 'search', url, items: texts, extra });
            return { body: await formatEnvelope(page), rows: [] };
          };
          // The events of a product do not report a changed code of one of its variants.
          if (query.sku !== undefined || query.gtin !== undefined) {
            await database.changes.check();
            return replyOk((await readPage(buildRequest())).body);
          }
          return cached.respond(
            `${visible.join()} ${url.base}${url.path}?${url.search}`,
            // Products that fail the filters still count in scores and facets: a change of any may change the page.
            () => {
              requireCurrent();
              return { ...buildRequest(), conditions: [] };
            },
            () => readPage(buildRequest()),
          );
        };
        return isPlain ? respond(new Map()) : definitions.use(respond);
      },
    }),
  ];
}

type Query = z.output<typeof schema.search>;

/** The types that the caller may find, and those that the request wants. @throws HttpError 400, 403 */
function resolveTypes(query: Query, caller: Caller): { visible: SearchType[]; types: SearchType[] } {
  const visible = searchTypes.filter(candidate => mayRead(caller, candidate));
  const named = schema.filterNames.find(name => query[name] !== undefined);
  if (named !== undefined && query.type !== undefined && query.type !== 'product')
    throw createFieldError(
      named,
      'product',
      `applies to products only and cannot be combined with type=${query.type}`,
    );
  const type = named === undefined ? query.type : 'product';
  if (type !== undefined && !visible.includes(type))
    throw new HttpError('FORBIDDEN', { message: `These credentials do not permit reading ${type}s.` });
  if (query.status === 'archived' && !may(caller, staff, 'products:write'))
    throw new HttpError('FORBIDDEN', { message: 'Only staff may search archived products.' });
  const types = visible.filter(candidate => type === undefined || candidate === type);
  // Filters are defined for products only: with filters, hits of other types are not counted.
  return { visible: named === undefined ? visible : types, types };
}

/** Conditions that bind a cursor to its query, in addition to the filters. */
const buildBoundConditions = (
  { q, status }: Query,
  types: readonly string[],
  visible: readonly string[],
): Condition[] => [
  { column: 'q', operator: '=', value: q },
  { column: 'type', operator: '=', value: types.join() },
  { column: 'visible', operator: '=', value: visible.join() },
  ...(status === undefined ? [] : [{ column: 'status', operator: '=' as const, value: status }]),
];

/** @param counted the facets of products, as JSON text of members of `meta` */
function formatMeta(found: SearchResult, counted: string | undefined): string {
  const types = JSON.stringify(Object.fromEntries(found.facets)).slice(1, -1);
  const relaxed = found.relaxed.length === 0 ? '' : `,"relaxed":${JSON.stringify(found.relaxed)}`;
  const corrected = found.corrected.length === 0 ? '' : `,"corrected":${JSON.stringify(found.corrected)}`;
  const start = '"facets":{';
  const counts = counted === undefined ? '}' : `,${counted.slice(start.length)}`;
  return `${start}${types}${counts}${relaxed}${corrected}`;
}

function mayRead(caller: Caller, type: SearchType): boolean {
  const { readers, scope } = places[type];
  return may(caller, readers, scope);
}

function toShownHit({ type, document, snippet, score, missing }: Hit, { base, path }: RequestUrl) {
  const url = `${base}${path.replace(/\/search(\/suggest)?$/, '')}/${places[type].path}/${document.id}`;
  const hit = { type, id: document.id, title: document.title, snippet, score, missing, url };
  if (document.product === undefined) return hit;
  const { price, currency, images, sku, category, status, rating, available } = document.product;
  return { ...hit, price, currency, image: images[0] ?? null, sku, category, status, rating, available };
}
