/** Lists of products: the request for a query, and its page, which is cached until something that it shows changes. */
import type { z } from 'zod';
import { createCachedLists } from '../../http/cache/index.ts';
import type { RequestUrl } from '../../http/endpoint.ts';
import { isHal } from '../../http/hal/index.ts';
import { formatEnvelope } from '../../http/paginate.ts';
import { type Reply, replyOk } from '../../http/response/reply.ts';
import type { Comparison, Condition, ListRequest, Membership } from '../../storage/list/request.ts';
import { mapInSlices } from '../../turns/slices.ts';
import { buildAttributeConditions, requireKnownAttributes } from '../attributes/filters.ts';
import { attributeDefinitions, type Definitions } from '../attributes/store.ts';
import { createUsedAttributes } from '../attributes/used.ts';
import type { RequestContext } from '../context.ts';
import { replyPage } from '../crud/list.ts';
import type { Stores } from '../stores.ts';
import { toComparableGtin } from './members/gtin.ts';
import { productJson, products, type StoredProduct } from './row.ts';
import * as schema from './schema.ts';

type Query = z.output<typeof schema.listProducts>;

interface ListContext extends RequestContext {
  readonly strict: boolean;
}

/** A query, interpreted with the definitions. */
interface Understood {
  readonly defined: Definitions;
  readonly names: readonly string[];
  /** Throws if the definitions have changed. */
  readonly requireCurrent?: () => void;
}

/** @param bodyOf returns the body of a GET of the product @returns a function that serves a request for a list */
export function createProductLists(
  { database, paginator, products: store, definitions, facets }: Stores,
  bodyOf: (context: RequestContext, row: StoredProduct) => string,
) {
  const lists = createCachedLists(database, [products, attributeDefinitions]);
  const used = createUsedAttributes(database);

  /** @param names the names of facets */
  const buildRequest = (query: Query, defined: Definitions, names: readonly string[]): ListRequest => {
    const conditions = buildConditions(query, defined);
    const request = paginator.request(query, conditions, schema.sortColumns, 'products');
    return names.length === 0 ? request : { ...request, facets: names };
  };

  async function readBody(url: RequestUrl, request: ListRequest) {
    const { listed, members } = await facets.list(store.list, request);
    const rows = listed.rows.map(({ id, sort_value }) => ({ id, value: sort_value }));
    // Not in slices: the rows of a list already hold their representation.
    const items = listed.rows.map(productJson);
    const page = paginator.page(listed, request, { list: 'products', url, items, extra: members });
    return { rows, body: await formatEnvelope(page) };
  }

  async function respondInHal(context: RequestContext, request: ListRequest): Promise<Reply> {
    const { listed, members } = await facets.list(store.list, request);
    const items = await mapInSlices(listed.rows, row => bodyOf(context, row));
    const page = paginator.page(listed, request, {
      list: 'products',
      url: context.url,
      items,
      extra: members,
    });
    return replyPage(context, page, 'products');
  }

  function respondWithPage(
    context: RequestContext,
    query: Query,
    { defined, names, requireCurrent = () => undefined }: Understood,
  ): Reply | Promise<Reply> {
    const { url } = context;
    // Built for each request: the cache holds only what is the same for all callers.
    if (isHal(context.mediaType)) return respondInHal(context, buildRequest(query, defined, names));
    // Not cached: product events do not show that a code of a variant has changed.
    if (query.sku !== undefined || query.gtin !== undefined)
      return readBody(url, buildRequest(query, defined, names)).then(({ body }) => replyOk(body));
    return lists.respond(
      `${url.base}${url.path}?${url.search}`,
      () => {
        requireCurrent();
        return buildRequest(query, defined, names);
      },
      request => readBody(url, request),
    );
  }

  async function respondWithDefinitions(context: ListContext, query: Query): Promise<Reply> {
    return definitions.use(async (defined, requireCurrent) => {
      if (context.strict) await requireKnownAttributes(query.attributes, defined, used);
      const names = await facets.names(query.facets, defined);
      return respondWithPage(context, query, { defined, names, requireCurrent });
    });
  }

  return (context: ListContext, query: Query): Reply | Promise<Reply> =>
    query.attributes === undefined && query.facets === undefined
      ? respondWithPage(context, query, { defined: new Map(), names: [] })
      : respondWithDefinitions(context, query);
}

/**
 * A condition that a column has one of these values; sorted, so that cursors stay valid if the values are reordered.
 * @param options the options of a comparison with a single value, and with several
 */
function buildAnyOfCondition(
  column: string,
  given: readonly (string | number)[],
  {
    single = {},
    several = {},
  }: {
    single?: Pick<Comparison, 'join' | 'anyOf'>;
    several?: Pick<Membership, 'within' | 'anyOf'>;
  } = {},
): Condition {
  const [first = '', ...others] = [...new Set(given)].sort();
  if (others.length === 0) return { column, operator: '=', value: first, ...single };
  const values = [first, ...others];
  return { column, operator: 'in', values, value: JSON.stringify(values), ...several };
}

const brands = { several: { within: { table: 'products', key: 'id' } } } as const;
const tagged = { table: 'product_tags', key: 'product_id' } as const;
const tags = { single: { join: tagged }, several: { within: tagged } } as const;

/** A sku or GTIN belongs to a product or to one of its variants. */
const tablesWithCodes = [
  { table: 'products', key: 'id' },
  { table: 'product_variants', key: 'product_id' },
] as const;
const codes = { single: { anyOf: tablesWithCodes }, several: { anyOf: tablesWithCodes } } as const;

/** Filters by exact text, and their columns. */
const comparedExactly = [
  ['name', 'name'],
  ['externalId', 'external_id'],
] as const;

export function buildConditions(query: Query, definitions: Definitions): Condition[] {
  const { category, status, sku, tag, brand, minPrice, maxPrice, gtin, available, id } = query;
  const conditions: Condition[] = [];
  if (category !== undefined) conditions.push(buildAnyOfCondition('category', category));
  if (status !== undefined)
    conditions.push({ column: 'status', operator: '=', value: status, literal: true });
  if (id !== undefined) conditions.push(buildAnyOfCondition('id', id));
  if (sku !== undefined) conditions.push(buildAnyOfCondition('sku', sku, codes));
  if (brand !== undefined) conditions.push(buildAnyOfCondition('brand', brand, brands));
  for (const [filter, column] of comparedExactly) {
    const value = query[filter];
    if (value !== undefined) conditions.push({ column, operator: '=', value });
  }
  if (gtin !== undefined) {
    const value = toComparableGtin(gtin);
    conditions.push({ column: 'gtin', operator: '=', value, anyOf: tablesWithCodes });
  }
  if (available !== undefined) {
    const value = available === 'true' ? 1 : 0;
    conditions.push({ column: 'available', operator: '=', value, literal: true });
  }
  if (tag !== undefined) conditions.push(buildAnyOfCondition('tag', tag, tags));
  if (minPrice !== undefined) conditions.push({ column: 'price', operator: '>=', value: minPrice });
  if (maxPrice !== undefined) conditions.push({ column: 'price', operator: '<=', value: maxPrice });
  return [...conditions, ...buildAttributeConditions(query.attributes, definitions)];
}
