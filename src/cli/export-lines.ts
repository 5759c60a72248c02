/** Formats products for an export: as rows of CSV, lines of NDJSON, or elements of a JSON array. */
import { isDeepStrictEqual } from 'node:util';
import { toAttributeCell } from '../files/cells/attribute.ts';
import { splitAddresses } from '../files/cells/list.ts';
import { formatCsvHeader, formatCsvRow, formatNdjsonRow } from '../files/write.ts';
import type { Product } from '../resources/products/schema.ts';
import type { Variant } from '../resources/variants/schema.ts';

export const exportFormats = ['csv', 'ndjson', 'json'] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** A product, with the data that its representation does not show. */
export interface Exported {
  readonly product: Product;
  /** The product's own price, if it has variants: then these determine the price that is shown. */
  readonly basePrice: number | undefined;
  readonly variants: readonly Variant[];
}

export interface Lines {
  readonly header: string;
  /** @param index from 0 */
  line(exported: Exported, index: number): string;
  readonly footer: string;
}

/** At most this many attribute keys get a column each; the rest share one. */
const maxAttributeColumns = 400;

/**
 * @param attributeKeys the keys of all products, for CSV
 * @param safe whether to guard cells that a spreadsheet would evaluate
 */
export function createLines(format: ExportFormat, attributeKeys: readonly string[], safe: boolean): Lines {
  if (format === 'csv') return createCsvLines(attributeKeys, safe);
  if (format === 'ndjson')
    return { header: '', line: exported => formatNdjsonRow(toMembers(exported)), footer: '' };
  return {
    header: '[',
    line: (exported, index) => `${index === 0 ? '\n' : ',\n'}${JSON.stringify(toMembers(exported))}`,
    footer: '\n]\n',
  };
}

/** The representation, with the base price and the variants if there are any. */
function toMembers({ product, basePrice, variants }: Exported): Record<string, unknown> {
  return {
    ...product,
    ...(basePrice === undefined ? {} : { basePrice }),
    ...(variants.length === 0
      ? {}
      : { variants: variants.map(variant => ({ ...variant, image: findImageUrl(product, variant) })) }),
  };
}

/** The URL of a variant's image: its id may be different in another catalog. */
const findImageUrl = ({ images }: Product, { imageId }: Variant): string | null =>
  images.find(({ id }) => id === imageId)?.url ?? null;

/**
 * The members of a variant that an import reads, without empty ones, since one cell holds all variants of a product.
 * A price of null is kept: on import it removes a price that the variant was given after the export.
 */
function shortenVariant(product: Product, variant: Variant): object {
  const { sku, gtin, options, price, compareAtPrice, weight, stock, position } = variant;
  const { reserved: _reserved, owed: _owed, ...counted } = stock ?? { reserved: 0 };
  const members = {
    sku,
    gtin,
    options,
    price,
    compareAtPrice,
    weight,
    stock: stock === null ? null : counted,
  };
  const all = { ...members, image: findImageUrl(product, variant), position };
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== null || name === 'price'),
  );
}

const plainColumns = [
  ...['id', 'sku', 'name', 'price', 'currency', 'description', 'category', 'tags', 'status'],
  ...['brand', 'gtin', 'mpn', 'externalId', 'compareAtPrice', 'basePrice', 'weight.value', 'weight.unit'],
  ...['categories', 'options', 'images', 'stock.tracked', 'stock.onHand', 'stock.backorder', 'variants'],
];

function createCsvLines(attributeKeys: readonly string[], safe: boolean): Lines {
  const own = attributeKeys.slice(0, maxAttributeColumns);
  const others = new Set(attributeKeys.slice(maxAttributeColumns));
  const columns = [
    ...plainColumns,
    ...(others.size > 0 ? ['attributes'] : []),
    ...own.map(key => `attributes.${key}`),
    ...['createdAt', 'updatedAt'],
  ];
  return {
    header: formatCsvHeader(columns),
    line: ({ product, basePrice, variants }) =>
      formatCsvRow(columns, toCells(product, basePrice, variants, others), safe),
    footer: '',
  };
}

function toCells(
  product: Product,
  basePrice: number | undefined,
  variants: readonly Variant[],
  others: ReadonlySet<string>,
): Record<string, unknown> {
  const { attributes, options, images, stock, weight, ...rest } = product;
  const cells: Record<string, unknown> = {
    ...rest,
    basePrice,
    // In a column of its own, a spreadsheet writes this number with the same decimal mark as the prices.
    'weight.value': weight?.value,
    'weight.unit': weight?.unit,
    options: options.length === 0 ? null : JSON.stringify(options),
    images: toImagesCell(images),
    'stock.tracked': stock?.tracked,
    'stock.onHand': stock?.onHand,
    'stock.backorder': stock?.backorder,
    variants:
      variants.length === 0
        ? null
        : JSON.stringify(variants.map(variant => shortenVariant(product, variant))),
  };
  const shared: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(attributes)) {
    if (others.has(key)) shared[key] = value;
    else cells[`attributes.${key}`] = typeof value === 'number' ? value : toAttributeCell(value);
  }
  if (Object.keys(shared).length > 0) cells.attributes = JSON.stringify(shared);
  return cells;
}

/** Only the URLs, if the images have no texts and the list can be split again; JSON otherwise. */
function toImagesCell(images: Product['images']): string | null {
  if (images.length === 0) return null;
  const urls = images.map(({ url }) => url);
  const text = urls.join(' | ');
  const isPlain = images.every(({ alt }) => alt === null) && isDeepStrictEqual(splitAddresses(text), urls);
  return isPlain ? text : JSON.stringify(images.map(({ url, alt }) => ({ url, alt })));
}
