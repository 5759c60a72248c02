/** Search over HTTP: one address for all that the caller may read. */
import { allow, type Caller } from '../../http/access.ts';
import { cachedLists } from '../../http/cache/index.ts';
import { type Endpoint, endpoint, type RequestUrl } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import type { Condition } from '../../storage/list/request.ts';
import { type SearchType, searchCollection, searchTypes } from '../../storage/search/index.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import type { Hit, SearchStore } from './store.ts';

/** Where documents of each type are read, and who may: below which path, with which scope, only which roles. */
const places: Readonly<Record<SearchType, { path: string; scope: string; roles?: readonly string[] }>> = {
  product: { path: 'products', scope: 'products:read' },
  article: { path: 'articles', scope: 'content:read' },
  post: { path: 'posts', scope: 'content:read' },
  order: { path: 'orders', scope: 'orders:read', roles: ['admin', 'editor'] },
  user: { path: 'users', scope: 'users:read', roles: ['admin'] },
};

export function searchEndpoints({ database, paginator }: Dependencies, store: SearchStore): Endpoint[] {
  const answers = cachedLists(database, [{ name: searchCollection }, { name: 'products' }]);
  return [
    endpoint({
      method: 'GET',
      path: '/search',
      operationId: 'search',
      summary: 'Search',
      description:
        'Finds products, articles and posts; for staff also orders, for administrators users. An API key finds what its other scopes let it read. Hits have all the words: in the title first, then elsewhere; whole words before beginnings; and where a word is not found at all, words with one typo between.',
      tag: 'Search',
      access: allow.everyone('search:read'),
      query: schema.search,
      responses: { 200: { description: 'One page of hits, best first.', schema: schema.searchResults } },
      errors: ['FORBIDDEN', 'INVALID_CURSOR'],
      handle({ query, caller, url }) {
        const { q, type } = query;
        const visible = searchTypes.filter(candidate => mayRead(caller, candidate));
        if (type !== undefined && !visible.includes(type)) {
          throw new HttpError('FORBIDDEN', { message: `These credentials do not permit reading ${type}s.` });
        }
        const types = visible.filter(candidate => type === undefined || candidate === type);
        const conditions: Condition[] = [
          { column: 'q', operator: '=', value: q },
          { column: 'type', operator: '=', value: types.join() },
          { column: 'visible', operator: '=', value: visible.join() },
        ];
        const key = `${visible.join()} ${url.base}${url.path}?${url.search}`;
        return answers.answer(
          key,
          () => paginator.request(query, conditions, {}, 'search'),
          async request => {
            const found = await store.search({ query: q, visible, types, page: request.page });
            const facets = JSON.stringify(Object.fromEntries(found.facets));
            const item = ({ hit }: { hit: Hit }) => JSON.stringify(shown(hit, url));
            const body = paginator.envelope(found, request, 'search', url, item, `"facets":${facets}`);
            return { body, rows: [] };
          },
        );
      },
    }),
  ];
}

function mayRead(caller: Caller, type: SearchType): boolean {
  const { scope, roles } = places[type];
  if (caller.kind === 'key') return caller.scopes.has(scope);
  return caller.kind === 'user' && (roles === undefined || roles.includes(caller.role));
}

function shown({ type, document, snippet, score }: Hit, { base, path }: RequestUrl) {
  const url = `${base}${path.replace(/\/search$/, '')}/${places[type].path}/${document.id}`;
  return { type, id: document.id, title: document.title, snippet, score, url };
}
