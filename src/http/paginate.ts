/** Collections on the wire: page parameters, signed cursors, and the envelope `{data, meta, links}`. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Condition, Key, Listed, ListRequest, Order, PageRequest } from '../storage/list/request.ts';
import type { RequestUrl } from './endpoint.ts';
import { createFieldError, HttpError } from './errors.ts';
import { keepParameters } from './hal/addresses.ts';
import { joinItems, type PageBody } from './response/page-body.ts';
import { count, integerParameter, prose } from './schema.ts';

const defaultSize = 20;
const maxSize = 100;
const lastPage = 1_000_000_000;
/** A cursor holds a sort value in base64: at most a path of 1,027 characters, of up to six bytes each (`\u0001`). */
const maxCursorLength = 8300;
const cursorExample = 'mK3v0c5zq1hXbGdsWzEsMjAsMjBd';

/** The parameters of every collection. */
export const pageParameters = {
  page: integerParameter(1, lastPage, { default: 1 })
    .optional()
    .describe('Page number, from 1. Not together with cursor or limit.'),
  perPage: integerParameter(1, maxSize, { default: defaultSize }).optional().describe('Items per page.'),
  limit: integerParameter(1, maxSize, { examples: [defaultSize] })
    .optional()
    .describe('Items per cursor page; default 20. Starts cursor paging.'),
  cursor: prose(maxCursorLength)
    .optional()
    .meta({
      minLength: 1,
      description: 'The nextCursor or prevCursor of another page of the same list.',
      examples: [cursorExample],
    }),
  count: z.enum(['exact']).optional().describe('With cursor paging: also return the exact total.'),
};

/**
 * `sort` and `order` for a collection with these sort columns: public names → columns. If `createdAt` is among them,
 * `created_at` means the same.
 */
export function sortParameters(columns: Readonly<Record<string, string>>) {
  const names = Object.keys(columns);
  return {
    sort: z
      .enum(names.includes('createdAt') ? [...names, 'created_at'] : names)
      .transform(name => (name === 'created_at' ? 'createdAt' : name))
      .optional()
      .describe('Sort key; ties are broken by id. Default: id.'),
    order: z.enum(['asc', 'desc']).optional().describe('Direction of the sort; default asc.'),
  };
}

/** The sorts of every list → columns. */
export const commonSorts = { id: 'id', createdAt: 'created_at' } as const;

/** All parameters of a collection except its filters. */
export function listParameters(columns: Readonly<Record<string, string>>) {
  return { ...sortParameters(columns), ...pageParameters };
}

type PageQuery = z.output<z.ZodObject<typeof pageParameters>>;
type SortQuery = { sort?: string | undefined; order?: 'asc' | 'desc' | undefined };

const link = z.url().nullable();
const cursor = z
  .string()
  .max(maxCursorLength)
  .meta({ pattern: '^[\\w-]+$', examples: [cursorExample] })
  .nullable();
const perPage = z
  .int()
  .min(1)
  .max(maxSize)
  .meta({ examples: [defaultSize] });
const total = count().meta({ examples: [1] });
const currentPage = z.int().min(1).max(lastPage);
const ofPages = { currentPage, perPage, total, lastPage: count(1) };
const ofCursors = { perPage, nextCursor: cursor, prevCursor: cursor, total: total.optional() };

const plainMeta = z
  .union([z.object(ofPages), z.object(ofCursors)])
  .meta({ id: 'ListMeta', description: 'Which part of the list this is.' });
const links = z
  .object({ first: link, last: link, prev: link, next: link })
  .meta({ id: 'ListLinks', description: 'The addresses of other pages of the same list.' });

/** The schema of the envelope for items of one kind. @param extra further members of `meta` */
export function buildCollectionSchema<Item extends z.ZodType>(
  item: Item,
  name: string,
  extra?: z.ZodRawShape,
) {
  return z
    .object({
      data: z.array(item).max(maxSize),
      meta:
        extra === undefined
          ? plainMeta
          : z.union([z.object({ ...ofPages, ...extra }), z.object({ ...ofCursors, ...extra })]).meta({
              id: `${name}Meta`,
              description: 'Which part of the list this is, and facts about the list.',
            }),
      links,
    })
    .meta({ id: name });
}

/** One page of a list, ready to be assembled; all parts are JSON texts. */
export interface PageTexts {
  readonly items: readonly string[];
  readonly meta: string;
  /** Addresses of other pages, or null. */
  readonly links: Readonly<Record<'first' | 'last' | 'prev' | 'next', string>>;
}

export function formatEnvelope({ items, meta, links }: PageTexts): PageBody | Promise<PageBody> {
  const { first, last, prev, next } = links;
  const after = `],"meta":${meta},"links":{"first":${first},"last":${last},"prev":${prev},"next":${next}}}`;
  return joinItems('{"data":[', items, after);
}

interface ShownList {
  /** The name under which cursors are signed. */
  readonly list: string;
  readonly url: RequestUrl;
  readonly items: readonly string[];
  /** JSON text: further members of `meta`. */
  readonly extra?: string | undefined;
}

export type Paginator = ReturnType<typeof createPaginator>;

/** @param secret the service's secret, from which the key for signing cursors is derived */
export function createPaginator(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'catalog cursors', 32));
  const sign = (payload: string, binding: string) =>
    createHmac('sha256', key).update(`${binding}\n${payload}`).digest().subarray(0, 12);

  /** A cursor is valid for one list with one filter and order: they are part of the signed text. */
  const toBinding = (list: string, conditions: readonly Condition[], order: Order) =>
    JSON.stringify([
      list,
      order.column,
      order.descending,
      conditions.map(c => [c.column, c.operator, c.value]),
    ]);

  function encode(direction: 'after' | 'before', at: Key, binding: string): string {
    const payload = JSON.stringify([direction === 'after' ? 1 : 0, at.value, at.id]);
    return Buffer.concat([sign(payload, binding), Buffer.from(payload)]).toString('base64url');
  }

  function decode(cursor: string, binding: string): { after: Key } | { before: Key } {
    const bytes = Buffer.from(cursor, 'base64url');
    const payload = bytes.subarray(12).toString();
    const canonical = bytes.toString('base64url') === cursor && bytes.length > 12;
    if (!canonical || !timingSafeEqual(bytes.subarray(0, 12), sign(payload, binding)))
      throw new HttpError('INVALID_CURSOR');
    // Boundary: the signature proves that `encode` wrote the payload.
    const [after, value, id] = JSON.parse(payload) as [number, string | number, number];
    return after === 1 ? { after: { value, id } } : { before: { value, id } };
  }

  function toPageRequest(query: PageQuery, binding: string): PageRequest {
    if (query.cursor === undefined && query.limit === undefined) {
      return { kind: 'offset', page: query.page ?? 1, perPage: query.perPage ?? defaultSize };
    }
    if (query.page !== undefined)
      throw createFieldError('page', 'exclusive', 'must not be given together with cursor or limit');
    const limit = query.limit ?? query.perPage ?? defaultSize;
    const at = query.cursor === undefined ? {} : decode(query.cursor, binding);
    return { kind: 'key', limit, count: query.count === 'exact', ...at };
  }

  return {
    /** @throws HttpError 400 for parameters that exclude each other, or INVALID_CURSOR */
    request(
      query: PageQuery & SortQuery,
      conditions: readonly Condition[],
      columns: Readonly<Record<string, string>>,
      list: string,
    ): ListRequest {
      const column = columns[query.sort ?? 'id'] ?? 'id';
      const order = { column, descending: query.order === 'desc' };
      return { conditions, order, page: toPageRequest(query, toBinding(list, conditions, order)) };
    },
    page(
      listed: Listed<unknown>,
      { conditions, order, page }: ListRequest,
      { list, url, items, extra }: ShownList,
    ): PageTexts {
      const link = createLinker(url);
      const besides = extra === undefined ? '' : `,${extra}`;
      if (page.kind === 'offset') {
        const total = listed.total ?? 0;
        const last = Math.max(1, Math.ceil(total / page.perPage));
        const buildPageLink = (number: number) => link(`page=${number}`);
        const meta = `{"currentPage":${page.page},"perPage":${page.perPage},"total":${total},"lastPage":${last}${besides}}`;
        const prev = listed.hasPrevious ? buildPageLink(Math.min(page.page - 1, last)) : 'null';
        const next = listed.hasNext ? buildPageLink(page.page + 1) : 'null';
        return { items, meta, links: { first: buildPageLink(1), last: buildPageLink(last), prev, next } };
      }
      const binding = toBinding(list, conditions, order);
      // The way back from an empty page must include the row that the cursor named: it starts one id past that row.
      const step = order.descending ? -1 : 1;
      const shiftKey = (at: Key | undefined, by: number) => at && { value: at.value, id: at.id + by };
      const computeEdge = (row: { sort_value: string | number; id: number } | undefined) =>
        row === undefined
          ? (shiftKey(page.after, step) ?? shiftKey(page.before, -step))
          : { value: row.sort_value, id: row.id };
      const encodeCursor = (direction: 'after' | 'before', exists: boolean, at: Key | undefined) =>
        exists && at !== undefined ? encode(direction, at, binding) : null;
      const next = encodeCursor('after', listed.hasNext, computeEdge(listed.rows.at(-1)));
      const prev = encodeCursor('before', listed.hasPrevious, computeEdge(listed.rows[0]));
      const size = `limit=${page.limit}`;
      const buildCursorLink = (cursor: string | null) =>
        cursor === null ? 'null' : link(`${size}&cursor=${cursor}`);
      const total = listed.total === undefined ? '' : `,"total":${listed.total}`;
      const meta = `{"perPage":${page.limit},"nextCursor":${JSON.stringify(next)},"prevCursor":${JSON.stringify(prev)}${total}${besides}}`;
      const links = {
        first: link(size),
        last: 'null',
        prev: buildCursorLink(prev),
        next: buildCursorLink(next),
      };
      return { items, meta, links };
    },
  };
}

/** Parameters that select the page; a link to another page has its own. */
const pageNames = ['page', 'cursor', 'limit'];

/** Builds the URL of a page as JSON text: the parameters of the request, with those that select the page replaced. */
function createLinker(url: RequestUrl): (pageParameter: string) => string {
  const kept = keepParameters(url, pageNames);
  // Quoted as a whole: the parameters are client input.
  const start = JSON.stringify(`${url.base}${url.path}?${kept.map(part => `${part}&`).join('')}`).slice(
    0,
    -1,
  );
  return pageParameter => `${start}${pageParameter}"`;
}
