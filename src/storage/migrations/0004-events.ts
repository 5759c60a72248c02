/** The outbox, the queue of work after a commit, and notifications of users. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const events: Migration = {
  name: '0004-events',
  async up(session, { build, dialect }) {
    const { id, text, integer, moment } = dialect.types;
    const statements = [
      sql`create table events (
        id ${id},
        type ${text} not null,
        resource ${text} not null,
        resource_id ${integer} not null,
        actor ${text} not null,
        request_id ${text},
        old_document ${text},
        new_document ${text},
        created_at ${moment} not null
      )`,
      // The id comes first: a filter by only the kind of resource should walk the events in order.
      sql`create index events_by_resource on events (resource_id, resource, id)`,
      sql`create index events_by_time on events (created_at, id)`,
      sql`create table deliveries (
        id ${id},
        queue ${text} not null,
        key ${text} not null,
        payload ${text} not null,
        attempts ${integer} not null,
        due_at ${moment} not null,
        failed_at ${moment},
        created_at ${moment} not null
      )`,
      // Neither index has failed deliveries, which are kept for inspection.
      sql`create index deliveries_by_key on deliveries (queue, key, id) where failed_at is null`,
      sql`create index deliveries_by_due on deliveries (queue, due_at, id) where failed_at is null`,
      sql`create table notifications (
        id ${id},
        user_id ${integer} not null references users (id) on delete cascade,
        event_id ${integer} not null,
        type ${text} not null,
        message ${text} not null,
        resource ${text} not null,
        resource_id ${integer} not null,
        read_at ${moment},
        created_at ${moment} not null,
        unique (event_id, user_id)
      )`,
      sql`create index notifications_by_user on notifications (user_id, id)`,
      sql`create index notifications_unread on notifications (user_id, id) where read_at is null`,
      sql`create table user_tokens (
        token_hash ${text} primary key,
        user_id ${integer} not null references users (id) on delete cascade,
        purpose ${text} not null check (purpose in ('password', 'verification')),
        created_at ${moment} not null,
        expires_at ${moment} not null
      )`,
      sql`create index user_tokens_by_user on user_tokens (user_id)`,
      sql`create index user_tokens_by_expiry on user_tokens (expires_at)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
