/**
 * The HTTP side of articles, posts, comments and reviews: their author, the rights to change them, and their
 * representation as JSON or HAL. Their queries are in store.ts.
 */
import type { z } from 'zod';
import { admins, allow, type Caller, type Role, staff } from '../../http/access.ts';
import { HttpError } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { addSelfLink, type Link, type Links } from '../../http/hal/index.ts';
import type { Transaction } from '../../storage/database.ts';
import type { Lister } from '../../storage/list/index.ts';
import { may, type RequestContext } from '../context.ts';
import { byId, createCrudEndpoints, createFindersById, type Finders } from '../crud/index.ts';
import type { ListSpec } from '../crud/list.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Creation, Resource, Rows } from '../crud/resource.ts';
import type { Dependencies } from '../dependencies.ts';
import { requireSelf } from '../users/rules.ts';
import { type Author, createAuthorReader, type Written } from './store.ts';

/** Who may change what: users with these roles, API keys with the write scope and, with `byAuthor`, the author. */
export interface Rights {
  /** The first half of the scopes: `content` of `content:read`. */
  readonly topic: string;
  readonly edit: readonly Role[];
  readonly remove: readonly Role[];
  readonly byAuthor: boolean;
}

/** Articles and posts belong to the shop. */
export const staffRights: Rights = { topic: 'content', edit: staff, remove: staff, byAuthor: false };
/** Comments belong to their authors; editors may only remove them. */
export const commentRights: Rights = { topic: 'content', edit: admins, remove: staff, byAuthor: true };
export const reviewRights: Rights = { ...commentRights, topic: 'reviews' };

/** For the descriptions of the operations that create one. */
export const signedInAuthor = 'The author is the user who is signed in, so API keys cannot do this.';

type Shared = 'path' | 'params' | 'read' | 'write' | 'presenter' | 'requireRight' | 'rows';

/** One kind of authored text. If its JSON has `_links`, they are URLs and are built here. */
export interface Kind<R extends Written, Fields>
  extends Omit<Resource<typeof byId, R, R, Fields, undefined>, Shared> {
  /** The path of the collection below the version prefix, and the relation of its items in HAL: `articles`. */
  readonly collection: string;
  readonly rights: Rights;
  representationOf(row: R): object;
  /** Links beyond self and author, as relation → path below the version prefix. */
  relatedTo?(row: R): Readonly<Record<string, string>>;
  readonly page: ListSpec<undefined, z.ZodObject, R>['page'];
  readonly sortColumns: Readonly<Record<string, string>>;
  readonly rows: Finders<R, R> &
    Pick<Rows<unknown, R, R, Fields>, 'update' | 'remove'> & { readonly list: Lister<R> };
}

/** The operations of one kind. */
export function createAuthoredResource<R extends Written, Fields>(
  { database, paginator }: Dependencies,
  kind: Kind<R, Fields>,
) {
  const { topic, byAuthor } = kind.rights;
  const allowed = byAuthor ? allow.everyone : allow.staff;
  const findAuthor = createAuthorReader(database);
  const crud = createCrudEndpoints(database, paginator, {
    ...kind,
    path: `/${kind.collection}/{id}`,
    params: byId,
    read: allow.everyoneSameView(`${topic}:read`),
    write: allowed(`${topic}:write`),
    ...createPresentation(kind),
    rows: { ...kind.rows, ...createFindersById(kind.name, kind.rows) },
  });
  const listed = {
    name: kind.collection,
    page: kind.page,
    sortColumns: kind.sortColumns,
    list: kind.rows.list,
  };
  return {
    list: <On extends z.ZodObject | undefined, Query extends z.ZodObject>(
      spec: Omit<ListSpec<On, Query, R>, 'tag' | 'access' | 'textsOf' | 'path' | keyof typeof listed> & {
        readonly path?: string;
      },
    ) => crud.list<On, Query, R>({ ...spec, ...listed }),
    /** No API key can create one: `insert` receives the signed-in user as the author. */
    create: <On extends z.ZodObject | undefined, Body extends z.ZodType>({
      insert,
      ...spec
    }: Omit<Creation<On, Body, R, undefined>, 'access' | 'insert'> & {
      insert(
        session: Transaction,
        author: Author,
        context: Parameters<Creation<On, Body, R, undefined>['insert']>[1],
      ): Promise<R>;
    }) =>
      crud.create({
        ...spec,
        access: allowed(),
        async insert(session, context) {
          const author = await requireSelf(context.caller, id => findAuthor(session, id));
          return insert(session, author, context);
        },
      }),
    /** Reading, replacing, changing and deleting one. @param removal the description of deleting it */
    single: (description: string, removal: { readonly description?: string } = { description }) => [
      crud.get(),
      crud.put({ description }),
      crud.patch({ description }),
      crud.remove(removal),
    ],
  };
}

/** The presenter of one kind, and the check of who may change its rows. */
function createPresentation<R extends Written, Fields>(kind: Kind<R, Fields>) {
  const { collection, rights } = kind;
  const isPermitted = (right: 'edit' | 'remove', caller: Caller, row: R) =>
    may(
      caller,
      rights[right],
      `${rights.topic}:write`,
      rights.byAuthor ? (row.user_id ?? undefined) : undefined,
    );

  /** Links to the author, if the account still exists, and to what the text belongs to. */
  function buildRelatedLinks({ url }: RequestContext, row: R, isShown: (account: number) => boolean) {
    const links: Record<string, Link> = {};
    const { user_id: account } = row;
    if (account !== null && isShown(account)) links.author = { href: buildAddress(url, 'users', account) };
    for (const [relation, path] of Object.entries(kind.relatedTo?.(row) ?? {}))
      links[relation] = { href: buildAddress(url, path) };
    return links;
  }

  function buildLinks(context: RequestContext, row: R, href: string): Links {
    const { caller } = context;
    // HAL links appear only for callers who can follow them; plain JSON names the author to all, as specified.
    const links = buildRelatedLinks(context, row, account => may(caller, admins, 'users:read', account));
    if (isPermitted('edit', caller, row)) links.edit = { href, method: 'PATCH' };
    if (isPermitted('remove', caller, row)) links.delete = { href, method: 'DELETE' };
    return links;
  }

  function toLinkedRepresentation(context: RequestContext, row: R): object {
    const self = buildAddress(context.url, collection, row.id);
    const links = addSelfLink(
      self,
      buildRelatedLinks(context, row, () => true),
    );
    const addresses = Object.entries(links).map(([relation, { href }]) => [relation, href] as const);
    return { ...kind.representationOf(row), _links: Object.fromEntries(addresses) };
  }

  return {
    presenter: createPresenter<R>({
      placeOf: ({ id }) => [collection, id],
      representationOf: kind.representationOf,
      linksOf: buildLinks,
      changedAt: row => row.updated_at,
      ...('_links' in kind.schema.shape
        ? {
            plainOf: toLinkedRepresentation,
            // The link to the author disappears with the account, at a time that the row does not record.
            isDated: row => row.user_id !== null,
          }
        : {}),
    }),
    /** @throws HttpError 403 if the caller may not */
    requireRight(right: 'edit' | 'remove', caller: Caller, row: R): void {
      if (isPermitted(right, caller, row)) return;
      const others = rights[right].join(' or ');
      throw new HttpError('FORBIDDEN', {
        message: `Only the author, or a user with the role ${others}, may do this.`,
      });
    },
  };
}
