/**
 * What articles, posts, comments and reviews have in common over HTTP: an author, the rule of who may change what
 * somebody has written, and how it is shown, as JSON or HAL. Their queries are in store.ts.
 */

import { z } from 'zod';
import { admins, type Caller, type Role, staff, unauthorized } from '../../http/access.ts';
import { HttpError } from '../../http/errors.ts';
import { addressOf } from '../../http/hal/addresses.ts';
import type { Link, Links } from '../../http/hal/index.ts';
import { identifier, text } from '../../http/schema.ts';
import type { Database, Session } from '../../storage/database.ts';
import { may, type RequestContext } from '../context.ts';
import { presenter } from '../crud/presenter.ts';
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

/** Articles and posts belong to the shop. */
export const staffRights: Rights = { edit: staff, remove: staff, scope: 'content:write' };
/** Comments belong to those who wrote them; editors may only take them down. */
export const commentRights: Rights = { edit: admins, remove: staff, scope: 'content:write' };
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

/** How rows of one kind are shown, and who may change them. */
export function authoredPresenter<Row extends Changed>(kind: Kind<Row>) {
  const { collection, rights } = kind;
  const allowed = (right: 'edit' | 'remove', caller: Caller, row: Row) =>
    may(caller, rights[right], rights.scope, kind.ownerOf(row));

  /** Of the author, where there is still an account, and of what it belongs to. */
  function related({ url }: RequestContext, row: Row, isShown: (account: number) => boolean) {
    const account = kind.accountOf(row);
    const links: Record<string, Link> = {};
    if (account !== null && isShown(account)) links.author = { href: addressOf(url, 'users', account) };
    for (const [relation, path] of Object.entries(kind.relatedTo(row)))
      links[relation] = { href: addressOf(url, path) };
    return links;
  }

  function linksOf(context: RequestContext, row: Row, href: string): Links {
    const { caller } = context;
    // A HAL link leads somewhere for anyone who asks; plain JSON names the author to all, as the specification has it.
    const links = related(context, row, account => may(caller, admins, 'users:read', account));
    if (allowed('edit', caller, row)) links.edit = { href, method: 'PATCH' };
    if (allowed('remove', caller, row)) links.delete = { href, method: 'DELETE' };
    return links;
  }

  function withLinks(context: RequestContext, row: Row): object {
    const links = {
      self: { href: addressOf(context.url, collection, row.id) },
      ...related(context, row, () => true),
    };
    const addresses = Object.entries(links).map(([relation, { href }]) => [relation, href] as const);
    return { ...kind.representationOf(row), _links: Object.fromEntries(addresses) };
  }

  return {
    ...presenter<Row>({
      placeOf: ({ id }) => [collection, id],
      representationOf: kind.representationOf,
      linksOf,
      changedAt: row => row.updated_at,
      ...(kind.linksInJson
        ? {
            plainOf: withLinks,
            // The link to an author goes with the account, at a moment that the row does not keep.
            isDated: row => kind.accountOf(row) !== null,
          }
        : {}),
    }),
    /** @throws HttpError 403 when the caller may not */
    permit(right: 'edit' | 'remove', caller: Caller, row: Row): void {
      if (allowed(right, caller, row)) return;
      const others = rights[right].join(' and ');
      throw new HttpError('FORBIDDEN', {
        message: `Only its author may do this, and people of the role ${others}.`,
      });
    },
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
