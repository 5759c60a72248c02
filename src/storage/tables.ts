/**
 * The columns of every table, as the queries see them on both databases.
 * Moments are epoch milliseconds; lists and objects are JSON text; ids are 32-bit integers.
 */
import type { Generated } from 'kysely';

export interface ProductsTable {
  id: Generated<number>;
  name: string;
  price: number;
  status: string;
  category: string | null;
  sku: string | null;
  created_at: number;
  updated_at: number;
  /** The representation as JSON text, without the opening `{"id":…,` (see docs/decisions/0002). */
  document: string;
}

/** How many products there are per status and category, kept by the transactions that change them. */
export interface ProductTotalsTable {
  status: string;
  category: string;
  slot: number;
  total: number;
}

/** Advanced by every transaction that changes a collection; the sum over slots names one state of it. */
export interface CollectionVersionsTable {
  collection: string;
  slot: number;
  version: number;
}

export interface ReviewsTable {
  id: Generated<number>;
  product_id: number;
  user_id: number;
  author_name: string;
  rating: number;
  body: string | null;
  created_at: number;
  updated_at: number;
}

export interface UsersTable {
  id: Generated<number>;
  name: string;
  email: string;
  /** The e-mail address in lower case: what makes an address unique. */
  email_key: string;
  password_hash: string | null;
  role: string;
  tags: string;
  version: number;
  verified_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface SessionsTable {
  id: string;
  user_id: number;
  token_hash: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

export interface ApiKeysTable {
  id: Generated<number>;
  name: string;
  /** The first characters of the key: enough to recognise it, too few to use it. */
  prefix: string;
  key_hash: string;
  scopes: string;
  created_by: number | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
}

export interface IdempotencyKeysTable {
  caller: string;
  key: string;
  request_hash: string;
  /** The stored answer, sealed: answers may hold secrets that are shown once. */
  answer: string;
  created_at: number;
}

/** Requests counted per subject and window; used where several replicas share a quota. */
export interface QuotasTable {
  subject: string;
  window_start: number;
  used: number;
}

export interface MigrationsTable {
  name: string;
  applied_at: number;
}

export interface Tables {
  products: ProductsTable;
  product_totals: ProductTotalsTable;
  collection_versions: CollectionVersionsTable;
  reviews: ReviewsTable;
  users: UsersTable;
  sessions: SessionsTable;
  api_keys: ApiKeysTable;
  idempotency_keys: IdempotencyKeysTable;
  quotas: QuotasTable;
  migrations: MigrationsTable;
}
