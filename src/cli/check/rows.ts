/** Reads whole tables, some rows at a time. */
import { type RawBuilder, sql } from 'kysely';
import type { IndexedValue } from '../../storage/attributes/values.ts';
import type { Builder, Session } from '../../storage/database.ts';
import { readPages } from '../../turns/slices.ts';

const rowsAtOnce = 500;

/** @param select without a condition, and with the column `id` */
export const readRowPages = <Row extends { readonly id: number }>(
  session: Session,
  build: Builder,
  select: RawBuilder<Row>,
): AsyncGenerator<Row[]> =>
  readPages<Row>(last => {
    const query = sql<Row>`${select} where id > ${last?.id ?? 0} order by id limit ${sql.lit(rowsAtOnce)}`;
    return session.all(query.compile(build));
  });

const pairsAtOnce = 20_000;

interface TagRow {
  readonly tag: string;
  readonly owner: number;
}

/** The rows of a table of tags, whose primary key is the tag and then its owner. */
export function readTagPairs(session: Session, build: Builder, table: 'product_tags' | 'article_tags') {
  const owner = sql.id(table === 'product_tags' ? 'product_id' : 'article_id');
  return readPages<TagRow>((last = { tag: '', owner: 0 }) => {
    const query = sql<TagRow>`select tag, ${owner} as owner from ${sql.id(table)}
      where (tag, ${owner}) > (${last.tag}, ${last.owner}) order by tag, ${owner} limit ${sql.lit(pairsAtOnce)}`;
    return session.all(query.compile(build));
  });
}

interface AttributeRow extends IndexedValue {
  readonly key: string;
  readonly owner: number;
}

/** The rows that products are found by their attributes with, in the order of their primary key. */
export const readAttributes = (session: Session, build: Builder): AsyncGenerator<AttributeRow[]> =>
  readPages<AttributeRow>(last => {
    const query = sql<AttributeRow>`select key, value as text, product_id as owner, kind, number
      from product_attributes
      where (key, value, product_id) > (${last?.key ?? ''}, ${last?.text ?? ''}, ${last?.owner ?? 0})
      order by key, value, product_id limit ${sql.lit(pairsAtOnce)}`;
    return session.all(query.compile(build));
  });
