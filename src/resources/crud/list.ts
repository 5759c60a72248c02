/** The endpoint of a list: pages of rows that match conditions, as JSON or HAL. */
import type { z } from 'zod';
import type { Access } from '../../http/access.ts';
import { createEndpoint, type Endpoint, type HandlerContext, type Output } from '../../http/endpoint.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { buildSelfAddress } from '../../http/hal/addresses.ts';
import { isHal, toHalCollection } from '../../http/hal/index.ts';
import { formatEnvelope, type PageTexts, type Paginator } from '../../http/paginate.ts';
import { type Reply, replyOk } from '../../http/response/reply.ts';
import type { Condition, Listed, ListRequest } from '../../storage/list/request.ts';
import { mapInSlices } from '../../turns/slices.ts';
import type { RequestContext } from '../context.ts';

interface Requested {
  readonly query: Parameters<Paginator['request']>[0];
  readonly conditions: readonly Condition[];
}

type TextOf<Row> = (row: Row & { readonly id: number }) => string;

export interface ListSpec<Params extends z.ZodObject | undefined, Query extends z.ZodObject, Row> {
  readonly path: string;
  readonly params?: Params;
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Access;
  readonly errors?: readonly ErrorCode[];
  readonly query: Query;
  readonly page: { readonly schema: z.ZodType; readonly hal?: z.ZodType };
  /** The name of the list in its cursors, in the plural. */
  readonly name: string;
  /** The name for people, and the relation of the items in HAL, if they differ from `name`. */
  readonly items?: string;
  readonly relation?: string;
  readonly list: (request: ListRequest) => Promise<Listed<Row>>;
  readonly sortColumns: Readonly<Record<string, string>>;
  /** The conditions and order of rows. @throws HttpError for a request that is invalid or forbidden for the caller */
  requested(
    context: HandlerContext<Output<Params>, Output<Query>, undefined>,
  ): Requested | Promise<Requested>;
  /** @returns a function that formats a row of the page as JSON text */
  textsOf(context: RequestContext, rows: readonly Row[]): TextOf<Row> | Promise<TextOf<Row>>;
}

/** A list of what a resource consists of, at the path of its collection unless it names another. */
export type CollectionSpec<Params extends z.ZodObject | undefined, Query extends z.ZodObject, Row> = Omit<
  ListSpec<Params, Query, Row>,
  'path' | 'tag' | 'access' | 'textsOf'
> & { readonly path?: string };

export function createListEndpoint<Params extends z.ZodObject | undefined, Query extends z.ZodObject, Row>(
  paginator: Paginator,
  spec: ListSpec<Params, Query, Row>,
): Endpoint {
  const { path, params, operationId, description, tag, access, query, name, sortColumns } = spec;
  const { items = name, relation = name, errors = [], summary = `List ${items}` } = spec;
  return createEndpoint({
    method: 'GET',
    path,
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tag,
    access,
    ...(params === undefined ? {} : { params }),
    query,
    responses: { 200: { description: `One page of ${items}.`, ...spec.page } },
    errors: [...errors, 'INVALID_CURSOR'],
    async handle(context) {
      const { url } = context;
      const { query, conditions } = await spec.requested(context);
      const request = paginator.request(query, conditions, sortColumns, name);
      const listed = await spec.list(request);
      const textOf = await spec.textsOf(context, listed.rows);
      const texts = await mapInSlices(listed.rows, textOf);
      const page = paginator.page(listed, request, { list: name, url, items: texts });
      return replyPage(context, page, relation);
    },
  });
}

/** @param relation the relation of the items in HAL */
export async function replyPage(
  { url, mediaType }: RequestContext,
  page: PageTexts,
  relation: string,
): Promise<Reply> {
  return replyOk(
    await (isHal(mediaType) ? toHalCollection(page, relation, buildSelfAddress(url)) : formatEnvelope(page)),
  );
}
