/**
 * Records on their way from thread to thread: a text for each column. To copy objects takes several times as long,
 * and to parse JSON, which the records hold already, twice.
 */
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import type { AttributeValues } from '../../storage/attributes/values.ts';

export interface Columns {
  readonly count: number;
  readonly prices: readonly number[];
  readonly givens: readonly number[];
  /** When products made of these records will have been created. */
  readonly at: number;
  readonly names: string;
  readonly statuses: string;
  readonly skus: string;
  readonly brands: string;
  readonly gtins: string;
  readonly externalIds: string;
  readonly availables: readonly number[];
  readonly documents: string;
  readonly words: string;
  /** The main category of each record, or an empty text, and its further ones; their number for each record, and all of them. */
  readonly pathCounts: readonly number[];
  readonly paths: string;
  /** How many tags each record has, and the tags of all. */
  readonly tagCounts: readonly number[];
  readonly tags: string;
  readonly images: readonly number[];
  readonly hasUploads: readonly boolean[];
  /** The variants of each record, as JSON text. */
  readonly variants: string;
  readonly variantCounts: readonly number[];
  /** How many skus the variants of each record have, and those of all. */
  readonly skuCounts: readonly number[];
  readonly variantSkus: string;
  readonly lines: readonly number[];
  /** As JSON; empty for none. */
  readonly attributes: string;
  readonly attributesAsTheyLook: string;
}

/** No text of a product holds it: the schema refuses it, and JSON escapes it. */
const between = '\0';

/** @param records all prepared for one moment */
export function toColumns(records: readonly PreparedRecord[]): Columns {
  const joinColumn = (text: (record: PreparedRecord) => string) => records.map(text).join(between);
  return {
    count: records.length,
    prices: records.map(({ row }) => row.price),
    givens: records.map(({ given }) => given),
    at: records[0]?.row.created_at ?? 0,
    names: joinColumn(({ row }) => row.name),
    statuses: joinColumn(({ row }) => row.status),
    // None may be empty: the empty text stands for null.
    skus: joinColumn(({ row }) => row.sku ?? ''),
    brands: joinColumn(({ row }) => row.brand ?? ''),
    gtins: joinColumn(({ row }) => row.gtin ?? ''),
    externalIds: joinColumn(({ row }) => row.external_id ?? ''),
    availables: records.map(({ row }) => row.available),
    documents: joinColumn(({ row }) => row.document),
    words: joinColumn(({ words }) => words),
    pathCounts: records.map(({ categories }) => 1 + categories.length),
    paths: records.flatMap(({ category, categories }) => [category ?? '', ...categories]).join(between),
    tagCounts: records.map(({ tags }) => tags.length),
    tags: records.flatMap(({ tags }) => tags).join(between),
    images: records.map(({ images }) => images),
    hasUploads: records.map(({ hasUploads }) => hasUploads),
    variants: joinColumn(({ variants }) => variants),
    variantCounts: records.map(({ variantCount }) => variantCount),
    skuCounts: records.map(({ variantSkus }) => variantSkus.length),
    variantSkus: records.flatMap(({ variantSkus }) => variantSkus).join(between),
    lines: records.map(({ line }) => line),
    attributes: joinColumn(({ attributes }) =>
      Object.keys(attributes).length === 0 ? '' : JSON.stringify(attributes),
    ),
    attributesAsTheyLook: joinColumn(({ attributesAsTheyLook }) => attributesAsTheyLook),
  };
}

export function parseColumns(columns: Columns): PreparedRecord[] {
  const { count, prices, givens, at } = columns;
  const names = columns.names.split(between);
  const statuses = columns.statuses.split(between);
  const skus = columns.skus.split(between);
  const brands = columns.brands.split(between);
  const gtins = columns.gtins.split(between);
  const externalIds = columns.externalIds.split(between);
  const documents = columns.documents.split(between);
  const words = columns.words.split(between);
  const variants = columns.variants.split(between);
  const attributes = columns.attributes.split(between);
  const asTheyLook = columns.attributesAsTheyLook.split(between);
  const tagsOf = createDivider(columns.tags.split(between), columns.tagCounts);
  const skusOf = createDivider(columns.variantSkus.split(between), columns.skuCounts);
  const pathsOf = createDivider(columns.paths.split(between), columns.pathCounts);
  return Array.from({ length: count }, (_, index) => {
    const [category, ...categories] = pathsOf(index);
    return {
      row: {
        name: names[index] ?? '',
        price: prices[index] ?? 0,
        status: statuses[index] ?? '',
        sku: skus[index] || null,
        created_at: at,
        updated_at: at,
        document: documents[index] ?? '',
        brand: brands[index] || null,
        gtin: gtins[index] || null,
        external_id: externalIds[index] || null,
        available: columns.availables[index] ?? 0,
        // It has no variants yet.
        base_price: null,
        variant_count: 0,
      },
      words: words[index] ?? '',
      tags: tagsOf(index),
      category: category || null,
      categories,
      attributes: parseAttributes(attributes[index] ?? ''),
      attributesAsTheyLook: asTheyLook[index] ?? '',
      given: givens[index] ?? 0,
      images: columns.images[index] ?? 0,
      hasUploads: columns.hasUploads[index] ?? false,
      variants: variants[index] ?? '',
      variantCount: columns.variantCounts[index] ?? 0,
      variantSkus: skusOf(index),
      line: columns.lines[index] ?? 0,
    };
  });
}

/** @returns what gives each record its share, called for one after another */
function createDivider(
  values: readonly string[],
  counts: readonly number[],
): (index: number) => readonly string[] {
  let first = 0;
  return index => {
    const start = first;
    first += counts[index] ?? 0;
    return values.slice(start, first);
  };
}

// Boundary: the other thread has written the text.
const parseAttributes = (text: string) => (text === '' ? {} : (JSON.parse(text) as AttributeValues));
