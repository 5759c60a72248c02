/**
 * Records on their way from thread to thread: a text for each column. To copy objects takes several times as long,
 * and to parse JSON, which the records hold already, twice.
 */
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';

export interface Columns {
  readonly count: number;
  readonly prices: readonly number[];
  readonly givens: readonly number[];
  /** When products made of these records will have been created. */
  readonly at: number;
  readonly names: string;
  readonly statuses: string;
  readonly categories: string;
  readonly skus: string;
  readonly documents: string;
  readonly words: string;
  /** How many tags each record has, and the tags of all. */
  readonly tagCounts: readonly number[];
  readonly tags: string;
}

/** No text of a product holds it: the schema refuses it, and JSON escapes it. */
const between = '\0';

/** @param records all prepared for one moment */
export function toColumns(records: readonly PreparedRecord[]): Columns {
  const column = (text: (record: PreparedRecord) => string) => records.map(text).join(between);
  return {
    count: records.length,
    prices: records.map(({ row }) => row.price),
    givens: records.map(({ given }) => given),
    at: records[0]?.row.created_at ?? 0,
    names: column(({ row }) => row.name),
    statuses: column(({ row }) => row.status),
    // Neither may be empty: the empty text stands for null.
    categories: column(({ row }) => row.category ?? ''),
    skus: column(({ row }) => row.sku ?? ''),
    documents: column(({ row }) => row.document),
    words: column(({ words }) => words),
    tagCounts: records.map(({ tags }) => tags.length),
    tags: records.flatMap(({ tags }) => tags).join(between),
  };
}

export function fromColumns(columns: Columns): PreparedRecord[] {
  const { count, prices, givens, tagCounts, at } = columns;
  const names = columns.names.split(between);
  const statuses = columns.statuses.split(between);
  const categories = columns.categories.split(between);
  const skus = columns.skus.split(between);
  const documents = columns.documents.split(between);
  const words = columns.words.split(between);
  const tags = columns.tags.split(between);
  let firstTag = 0;
  const tagsOf = (index: number) => {
    const start = firstTag;
    firstTag += tagCounts[index] ?? 0;
    return tags.slice(start, firstTag);
  };
  return Array.from({ length: count }, (_, index) => ({
    row: {
      name: names[index] ?? '',
      price: prices[index] ?? 0,
      status: statuses[index] ?? '',
      category: categories[index] || null,
      sku: skus[index] || null,
      created_at: at,
      updated_at: at,
      document: documents[index] ?? '',
    },
    words: words[index] ?? '',
    tags: tagsOf(index),
    given: givens[index] ?? 0,
  }));
}
