/** Events over HTTP, for administrators: who changed what, and when. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { ok } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Condition } from '../../storage/list/request.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type EventStore, eventJson } from './store.ts';

const tag = 'Events';
const path = '/events';
const access = allow.admin('events:read');
const params = z.object({ id: identifier() });

export function eventEndpoints({ database, paginator }: Dependencies, store: EventStore): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listEvents',
      summary: 'List what has been changed, by whom',
      description:
        'Every change, written down by the transaction that made it. With page the total is counted; of a long ' +
        'trail, limit and cursor read the page alone. With since or until the default sort is createdAt. To follow the ' +
        'trail, sort by id, also with since: an event is listed once none can come before it, so that no cursor passes ' +
        'one by. The order of createdAt is for periods that are over: of changes made at once, the one that is ' +
        'listed later may have the earlier time.',
      tag,
      access,
      query: schema.listEvents,
      responses: { 200: { description: 'One page of events.', schema: schema.eventList } },
      errors: ['INVALID_CURSOR'],
      async handle({ query, url }) {
        // A period is read in the order of its index; ids break ties, and were given out in nearly that order.
        const isPeriod = query.since !== undefined || query.until !== undefined;
        const sorted = { ...query, sort: query.sort ?? (isPeriod ? 'createdAt' : 'id') };
        const request = paginator.request(sorted, conditionsOf(query), schema.sortColumns, 'events');
        return ok(paginator.envelope(await store.list(request), request, 'events', url, eventJson));
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getEvent',
      summary: 'Read an event',
      tag,
      access,
      params,
      responses: { 200: { description: 'The event.', schema: schema.event } },
      errors: ['NOT_FOUND'],
      async handle({ params: { id } }) {
        const row = await store.find(database.read, id);
        if (row === undefined) throw notFound('event', id);
        return ok(eventJson(row), { lastModified: row.created_at });
      },
    }),
  ];
}

function conditionsOf(query: z.output<typeof schema.listEvents>): Condition[] {
  const { type, resource, resourceId, actor, since, until } = query;
  // Ids are given out per kind of resource: one alone names nothing.
  if (resourceId !== undefined && resource === undefined)
    throw invalid('resource', 'required', 'is required together with resourceId');
  const conditions: Condition[] = [];
  if (type !== undefined) conditions.push({ column: 'type', operator: '=', value: type });
  if (resource !== undefined) conditions.push({ column: 'resource', operator: '=', value: resource });
  if (resourceId !== undefined) conditions.push({ column: 'resource_id', operator: '=', value: resourceId });
  if (actor !== undefined) conditions.push({ column: 'actor', operator: '=', value: actor });
  if (since !== undefined)
    conditions.push({ column: 'created_at', operator: '>=', value: Date.parse(since) });
  if (until !== undefined)
    conditions.push({ column: 'created_at', operator: '<=', value: Date.parse(until) });
  return conditions;
}
