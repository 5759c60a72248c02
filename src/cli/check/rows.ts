/** Reads whole tables, some rows at a time. */
import { type RawBuilder, sql } from 'kysely';
import type { IndexedValue } from '../../storage/attributes/values.ts';
import type { Builder, Session } from '../../storage/database.ts';

const rowsAtOnce = 500;

/** @param select without a condition, and with the column `id` */
export async function* pagesOf<Row extends { readonly id: number }>(
  session: Session,
  build: Builder,
  select: RawBuilder<Row>,
): AsyncGenerator<Row[]> {
  for (let last = 0; ; ) {
    const query = sql<Row>`${select} where id > ${last} order by id limit ${sql.lit(rowsAtOnce)}`;
    const rows = await session.all(query.compile(build));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end.id;
  }
}

const pairsAtOnce = 20_000;

/** The rows of a table of tags, whose primary key is the tag and then its owner. */
export async function* pairsOf(
  session: Session,
  build: Builder,
  table: 'product_tags' | 'article_tags',
): AsyncGenerator<{ tag: string; owner: number }[]> {
  const owner = sql.id(table === 'product_tags' ? 'product_id' : 'article_id');
  for (let last = { tag: '', owner: 0 }; ; ) {
    const query = sql<{ tag: string; owner: number }>`select tag, ${owner} as owner from ${sql.id(table)}
      where (tag, ${owner}) > (${last.tag}, ${last.owner}) order by tag, ${owner} limit ${sql.lit(pairsAtOnce)}`;
    const rows = await session.all(query.compile(build));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end;
  }
}

interface AttributeRow extends IndexedValue {
  readonly key: string;
  readonly owner: number;
}

/** The rows that products are found by their attributes with, in the order of their primary key. */
export async function* attributesOf(session: Session, build: Builder): AsyncGenerator<AttributeRow[]> {
  for (let last = { key: '', text: '', owner: 0 }; ; ) {
    const query = sql<AttributeRow>`select key, value as text, product_id as owner, kind, number
      from product_attributes where (key, value, product_id) > (${last.key}, ${last.text}, ${last.owner})
      order by key, value, product_id limit ${sql.lit(pairsAtOnce)}`;
    const rows = await session.all(query.compile(build));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end;
  }
}
