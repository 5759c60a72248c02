/** The schema of events: the audit trail, written by outbox.record and never changed. */
import { z } from 'zod';
import { buildCollectionSchema, commonSorts, listParameters } from '../../http/paginate.ts';
import { buildDateTime, identifier, idFilter, integerParameter, text, timestamp } from '../../http/schema.ts';
import { maxId } from '../../storage/database.ts';

const type = text(100).meta({ examples: ['product.updated'] });
const resource = text(50).meta({ examples: ['product'] });
const actor = text(300).meta({ examples: ['user:1'] });
/** The representation of the resource at that time. */
const representation = z
  .record(z.string().max(100), z.unknown())
  .nullable()
  .meta({ examples: [{ id: 1, name: 'Lamp' }] });
const moment = buildDateTime('; a + in an address is written %2B').meta({
  examples: ['2026-01-15T09:30:00Z'],
});

export const event = z
  .object({
    id: identifier(),
    type: type.describe('What happened: the resource and a verb in the past tense.'),
    resource,
    resourceId: identifier(),
    actor: actor.describe(
      'Who did it: `user:<id>`, `key:<id>`, `ip:<address>`, or a part of the service: `cli` (a command), `import`, `stripe`, `mail`, `order-timeout`, `samples`. More may be added.',
    ),
    requestId: text(255)
      .nullable()
      .describe('X-Request-ID of the request that did it; null if no request did.')
      .meta({ examples: ['5e0f2c1a-7d1b-4c36-9a53-0c2c6f9f1d3e'] }),
    before: representation.describe('The resource before the change; null if it was created.'),
    after: representation.describe('The resource after the change; null if it was deleted.'),
    createdAt: timestamp(),
  })
  .meta({ id: 'Event' });

export const eventList = buildCollectionSchema(event, 'EventList');
export const sortColumns = commonSorts;

export const listEvents = z.object({
  type: type.optional().describe('Only events of this type.'),
  resource: resource.optional().describe('Only events of this kind of resource.'),
  resourceId: idFilter('Only events of the resource with this id; requires `resource`.'),
  actor: actor.optional().describe('Only events of this actor.'),
  since: moment.optional().describe('Only events at or after this time.'),
  until: moment.optional().describe('Only events at or before this time.'),
  afterId: integerParameter(0, maxId, { examples: [245] })
    .optional()
    .describe('Only events with a higher id, to continue after the last event read; 0 for all.'),
  ...listParameters(sortColumns),
});
