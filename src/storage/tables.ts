/**
 * The columns of every table, as queries see them on both databases.
 * Times are epoch milliseconds; lists and objects are JSON text; ids are 32-bit integers.
 */
import type { Generated, Selectable } from 'kysely';
import type { CredentialTables } from './tables/credentials.ts';
import type { MediaTables } from './tables/media.ts';
import type { OrderTables } from './tables/orders.ts';
import type { ProductTables } from './tables/products.ts';

export interface Tables extends CredentialTables, MediaTables, OrderTables, ProductTables {
  /** Every transaction that changes a collection advances its version, the sum over its slots. */
  collection_versions: {
    collection: string;
    slot: number;
    version: number;
  };

  /** `author_id` and `author_name` are copies from the time of writing; `user_id` is null once the account is deleted. */
  articles: {
    id: Generated<number>;
    title: string;
    body: string;
    tags: string;
    author_id: number;
    author_name: string;
    user_id: number | null;
    created_at: number;
    updated_at: number;
  };

  /** A copy of the tags of articles, to look articles up by tag. */
  article_tags: {
    article_id: number;
    tag: string;
  };

  posts: Omit<Tables['articles'], 'tags'>;

  comments: {
    id: Generated<number>;
    post_id: number;
    user_id: number;
    author_name: string;
    body: string;
    created_at: number;
    updated_at: number;
  };

  users: {
    id: Generated<number>;
    name: string;
    email: string;
    /** The e-mail address in lower case, which must be unique. */
    email_key: string;
    password_hash: string | null;
    /** The new address that the user has yet to confirm. */
    pending_email: string | null;
    role: string;
    tags: string;
    version: number;
    verified_at: number | null;
    created_at: number;
    updated_at: number;
    /** Incremented when all sessions of the user are ended. */
    session_generation: Generated<number>;
  };

  /** The addresses that users have signed in from, each as a hash of the e-mail address and the client's address. */
  known_addresses: {
    hash: string;
    user_id: number;
    last_used_at: number;
  };

  api_keys: {
    id: Generated<number>;
    name: string;
    /** The first characters of the key: enough to recognise it, too few to use it. */
    prefix: string;
    key_hash: string;
    scopes: string;
    /** Requests per window; null for the value of RATE_LIMIT. */
    rate_limit: number | null;
    created_by: number | null;
    created_at: number;
    expires_at: number | null;
    last_used_at: number | null;
  };

  idempotency_keys: {
    caller: string;
    key: string;
    request_hash: string;
    /** The stored response, encrypted: responses may hold secrets that are shown only once. */
    answer: string;
    created_at: number;
  };

  /** Counts requests per subject and window, where replicas share a quota, and mails per subject and second. */
  quotas: {
    subject: string;
    window_start: number;
    used: number;
  };

  /** Every change, written by the transaction that made it: see events/outbox.ts. */
  events: {
    id: Generated<number>;
    /** `<resource>.<action>` */
    type: string;
    resource: string;
    resource_id: number;
    actor: string;
    request_id: string | null;
    /** The representations before and after, as JSON text. */
    old_document: string | null;
    new_document: string | null;
    created_at: number;
    /** The amount that it added to the version of its collection: see storage/changes/; 0 where nothing is cached. */
    mark: Generated<number>;
  };

  /** Work that must be done after a commit: see events/queue.ts. */
  deliveries: {
    id: Generated<number>;
    queue: string;
    key: string;
    payload: string;
    attempts: number;
    /** The earliest time for the next attempt; during an attempt, the time when its process is presumed dead. */
    due_at: number;
    /** Set when the delivery was given up. */
    failed_at: number | null;
    created_at: number;
  };

  notifications: {
    id: Generated<number>;
    user_id: number;
    event_id: number;
    type: string;
    message: string;
    resource: string;
    resource_id: number;
    read_at: number | null;
    created_at: number;
  };

  /** Numbers that are assigned without gaps. */
  counters: {
    name: string;
    value: number;
  };

  todos: {
    id: Generated<number>;
    user_id: number;
    title: string;
    /** 0 or 1. */
    done: number;
    created_at: number;
    updated_at: number;
  };

  /** Words that a search treats as equal. The representation is stored as that of products. */
  search_synonyms: {
    id: Generated<number>;
    created_at: number;
    updated_at: number;
    document: string;
  };

  migrations: {
    name: string;
    applied_at: number;
  };
}

/** A row as queries return it. */
export type Row<Name extends keyof Tables> = Readonly<Selectable<Tables[Name]>>;
