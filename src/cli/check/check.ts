/** One check of the database, with the repair of the derived data that it covers; reading whole tables in pages. */

import { type RawBuilder, sql } from 'kysely';
import type { Builder, Database, Session, Transaction } from '../../storage/database.ts';
import { readPages } from '../../turns/slices.ts';

export type Storage = Pick<Database, 'build' | 'dialect'>;

export interface Check {
  /** What is checked, such as `totals of products`. */
  readonly name: string;
  /** @returns a line for each problem */
  find(session: Session): Promise<string[]>;
  /** Rebuilds derived data from its source; undefined where the checked data has no other source. */
  readonly repair?: (session: Transaction, now: number) => Promise<void>;
}

const rowsAtOnce = 500;

/** @param select a SELECT without a condition that includes the column `id` */
export const readRowPages = <Row extends { readonly id: number }>(
  session: Session,
  build: Builder,
  select: RawBuilder<Row>,
): AsyncGenerator<Row[]> =>
  readPages<Row>(last => {
    const query = sql<Row>`${select} where id > ${last?.id ?? 0} order by id limit ${sql.lit(rowsAtOnce)}`;
    return session.all(query.compile(build));
  });

interface Keyed {
  readonly table: string;
  readonly key: readonly string[];
  /** Rows per page. */
  readonly limit?: number;
}

/** All rows of a table, with all columns, in the order of the key. */
export const readTable = <Row extends Readonly<Record<string, unknown>>>(
  session: Session,
  build: Builder,
  { table, key, limit = 20_000 }: Keyed,
): AsyncGenerator<Row[]> =>
  readPages<Row>(last => {
    const names = sql.join(key.map(name => sql.ref(name)));
    const after = last && sql`where (${names}) > (${sql.join(key.map(name => last[name]))})`;
    const query = sql<Row>`select * from ${sql.id(table)} ${after ?? sql``} order by ${names} limit ${sql.lit(limit)}`;
    return session.all(query.compile(build));
  });

/** `column price`, `columns price, status`. */
export const formatColumns = (names: readonly string[]): string =>
  `${names.length === 1 ? 'column' : 'columns'} ${names.join(', ')}`;
