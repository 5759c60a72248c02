/**
 * What articles, posts, comments and reviews have in common over HTTP: an author, the rule of who may change what
 * somebody has written, and how it is shown, as JSON or HAL. Their queries are in store.ts.
 */

import { z } from 'zod';
import { type Caller, type Role, unauthorized } from '../../http/access.ts';
import type { RequestUrl } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, halCollection, isHal, type Link } from '../../http/hal/index.ts';
import type { Paginator } from '../../http/paginate.ts';
import { created, ok, type Reply, type ReplyOptions } from '../../http/response/reply.ts';
import { identifier, text } from '../../http/schema.ts';
import type { Database, Session } from '../../storage/database.ts';
import type { Lister } from '../../storage/list/index.ts';
import type { Condition } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import { type Author, authors } from './store.ts';

export const author = z.object({
  id: identifier(),
  name: text(200)
    .describe('As it was when this was written.')
    .meta({ examples: ['Ada Winter'] }),
});

/** Who may change what: its owner, people of these roles, and API keys with this scope. */
export interface Rights {
  readonly edit: readonly Role[];
  readonly remove: readonly Role[];
  readonly scope: string;
}

const staff: readonly Role[] = ['admin', 'editor'];
/** Articles and posts belong to the shop. */
export const staffRights: Rights = { edit: staff, remove: staff, scope: 'content:write' };
/** Comments belong to those who wrote them; editors may only take them down. */
export const commentRights: Rights = { edit: ['admin'], remove: staff, scope: 'content:write' };
export const reviewRights: Rights = { ...commentRights, scope: 'reviews:write' };

/** How one kind of resource is shown. */
export interface Kind<Row> {
  /** Its collection's path below the version's prefix, and the relation of its items in HAL: `articles`. */
  readonly collection: string;
  readonly rights: Rights;
  representationOf(row: Row): { readonly id: number; readonly author: Author };
  /** Its author's account; null when that is gone. */
  accountOf(row: Row): number | null;
  /** Whose own it is; undefined for what belongs to nobody. */
  ownerOf(row: Row): number | undefined;
  /** Links beyond self and author: relation → path below the version's prefix. */
  relatedTo(row: Row): Readonly<Record<string, string>>;
  /** Whether plain JSON has `_links` too, as URLs. */
  readonly linksInJson: boolean;
}

interface Changed {
  readonly id: number;
  readonly updated_at: number;
}

export interface Presenter<Row> {
  /** The representation as plain JSON has it. */
  plain(context: RequestContext, row: Row): Readonly<Record<string, unknown>>;
  /** What a GET of the row's address answers to this caller and Accept, as text. */
  body(context: RequestContext, row: Row): string;
  /** @throws HttpError 403 when the caller may not */
  requireRight(right: 'edit' | 'remove', caller: Caller, row: Row): void;
  shown(context: RequestContext, row: Row): Reply;
  created(context: RequestContext, row: Row): Reply;
}

export function presenter<Row extends Changed>(kind: Kind<Row>): Presenter<Row> {
  const { collection, rights } = kind;
  const allowed = (right: 'edit' | 'remove', caller: Caller, row: Row) =>
    may(caller, rights[right], rights.scope, kind.ownerOf(row));
  const selfAt = (url: RequestUrl, row: Row) => `${versionRoot(url)}/${collection}/${row.id}`;

  function addresses(url: RequestUrl, row: Row): Record<string, string> {
    const account = kind.accountOf(row);
    const found: Record<string, string> = { self: selfAt(url, row) };
    if (account !== null) found.author = `${versionRoot(url)}/users/${account}`;
    for (const [relation, path] of Object.entries(kind.relatedTo(row)))
      found[relation] = `${versionRoot(url)}/${path}`;
    return found;
  }

  function links({ url, caller }: RequestContext, row: Row): Record<string, Link> {
    const href = selfAt(url, row);
    const found: Record<string, Link> = {};
    const account = kind.accountOf(row);
    // A HAL link leads somewhere for anyone who asks; plain JSON names the author to all, as the specification has it.
    const seesAuthor = account !== null && may(caller, ['admin'], 'users:read', account);
    for (const [relation, address] of Object.entries(addresses(url, row)))
      if (relation !== 'author' || seesAuthor) found[relation] = { href: address };
    if (allowed('edit', caller, row)) found.edit = { href, method: 'PATCH' };
    if (allowed('remove', caller, row)) found.delete = { href, method: 'DELETE' };
    return found;
  }

  const plain = ({ url }: RequestContext, row: Row) => ({
    ...kind.representationOf(row),
    ...(kind.linksInJson ? { _links: addresses(url, row) } : {}),
  });
  const body = (context: RequestContext, row: Row) =>
    JSON.stringify(
      isHal(context.mediaType) ? hal(kind.representationOf(row), links(context, row)) : plain(context, row),
    );
  /** The link to an author goes with the account, at a moment that the row does not keep: then it has no date. */
  const dated = ({ mediaType }: RequestContext, row: Row): ReplyOptions =>
    kind.linksInJson && kind.accountOf(row) === null ? {} : datedUnlessHal(mediaType, row.updated_at);
  return {
    plain,
    body,
    requireRight(right, caller, row) {
      if (allowed(right, caller, row)) return;
      const others = rights[right].join(' and ');
      throw new HttpError('FORBIDDEN', {
        message: `Only its author may do this, and people of the role ${others}.`,
      });
    },
    shown: (context, row) => ok(body(context, row), dated(context, row)),
    created: (context, row) => created(selfAt(context.url, row), body(context, row), dated(context, row)),
  };
}

export interface Listing<Row> {
  readonly paginator: Paginator;
  readonly list: Lister<Row>;
  readonly sortColumns: Readonly<Record<string, string>>;
  readonly collection: string;
  readonly presenter: Presenter<Row>;
}

/** @returns a function that gives one page of a collection, as JSON or HAL */
export function pages<Row extends Changed>(listing: Listing<Row>) {
  const { paginator, list, sortColumns, collection, presenter: present } = listing;
  return async (
    context: RequestContext,
    query: Parameters<Paginator['request']>[0],
    conditions: readonly Condition[],
  ): Promise<Reply> => {
    const request = paginator.request(query, conditions, sortColumns, collection);
    const listed = await list(request);
    const envelope = paginator.envelope(listed, request, collection, context.url, row =>
      present.body(context, row),
    );
    return ok(
      isHal(context.mediaType) ? halCollection(envelope, collection, selfAddress(context.url)) : envelope,
    );
  };
}

/** @returns a function that gives the caller as the author of something new; throws HttpError 401 for no user */
export function authorship(database: Pick<Database, 'build' | 'dialect'>) {
  const find = authors(database);
  return async (session: Session, caller: Caller): Promise<Author> => {
    const found = caller.kind === 'user' ? await find(session, caller.userId) : undefined;
    // The token is good but its user is gone: it stands for nobody any more.
    if (found === undefined) throw unauthorized('UNAUTHORIZED');
    return found;
  };
}
