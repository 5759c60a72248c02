/** Events over HTTP, for administrators: who changed what, and when. */
import type { z } from 'zod';
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { createFieldError, requireFound } from '../../http/errors.ts';
import { replyOk } from '../../http/response/reply.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { byId } from '../crud/index.ts';
import { createListEndpoint } from '../crud/list.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toEventJson } from './store.ts';

const tag = 'Events';
const path = '/events';
const access = allow.admin('events:read');

export function createEventEndpoints({ database, paginator, events: store }: Stores): Endpoint[] {
  return [
    createListEndpoint(paginator, {
      path,
      operationId: 'listEvents',
      summary: 'List events',
      description:
        'Every change, recorded by the transaction that made it, with its actor. With page, the total is counted; for a ' +
        'long trail, use limit and cursor, which read only the page. With since or until, the default sort is ' +
        'createdAt. To follow the trail, sort by id, also with since, and continue with the id of the last event as ' +
        'afterId or with a cursor: an event is listed only once no other can come before it, so neither misses one. ' +
        'Sort by createdAt only for past periods: of concurrent changes, the one listed later may have the earlier time.',
      tag,
      access,
      query: schema.listEvents,
      page: { schema: schema.eventList },
      name: 'events',
      list: store.list,
      sortColumns: schema.sortColumns,
      requested({ query }) {
        // A period is read in the order of its index. Ids break ties; they were assigned in nearly that order.
        const isPeriod = query.since !== undefined || query.until !== undefined;
        const sort = query.sort ?? (isPeriod ? 'createdAt' : 'id');
        return { query: { ...query, sort }, conditions: buildConditions(query) };
      },
      textsOf: () => toEventJson,
    }),
    createEndpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getEvent',
      summary: 'Read an event',
      tag,
      access,
      params: byId,
      responses: { 200: { description: 'The event.', schema: schema.event } },
      async handle({ params: { id } }) {
        const row = requireFound('event', id, await store.find(database.read, id));
        return replyOk(toEventJson(row), { lastModified: row.created_at });
      },
    }),
  ];
}

function buildConditions(query: z.output<typeof schema.listEvents>): Condition[] {
  const { type, resource, resourceId, actor, since, until, afterId } = query;
  // Ids are assigned per kind of resource: an id alone is ambiguous.
  if (resourceId !== undefined && resource === undefined)
    throw createFieldError('resource', 'required', 'is required together with resourceId');
  const conditions = createEqualConditions({ type, resource, resource_id: resourceId, actor });
  if (since !== undefined)
    conditions.push({ column: 'created_at', operator: '>=', value: Date.parse(since) });
  if (until !== undefined)
    conditions.push({ column: 'created_at', operator: '<=', value: Date.parse(until) });
  if (afterId !== undefined) conditions.push({ column: 'id', operator: '>', value: afterId });
  return conditions;
}
