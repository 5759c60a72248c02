/** Kysely as a query builder only: it compiles, and the sessions of database.ts run the text. */
import {
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Builder } from './database.ts';
import type { Tables } from './tables.ts';

const createBuilder = (dialect: Omit<Dialect, 'createDriver'>): Builder =>
  new Kysely<Tables>({ dialect: { ...dialect, createDriver: () => new DummyDriver() } });

export const createSqliteBuilder = (): Builder =>
  createBuilder({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: db => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  });

export const createPostgresBuilder = (): Builder =>
  createBuilder({
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: db => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  });
