/** Products of WooCommerce as JSON, from its REST API (`/wp-json/wc/v3/products`), as the rows of an export. */
import { getObjects, hasMembers, joinCell, joinNames, toCell } from '../json.ts';
import type { Cells, JsonProducts } from '../preset.ts';

type Members = Readonly<Record<string, unknown>>;

export const json: JsonProducts = {
  file: 'products of WooCommerce as JSON',
  accepted:
    'an array of products as /wp-json/wc/v3/products gives it, an object with one such array, or one of these on each ' +
    'line; each with regular_price and stock_status. The objects of /wp-json/wc/v3/products/ID/variations are read ' +
    'among them, or in the place of the ids in variations',
  isProduct: value => hasMembers(value, ['id', 'regular_price', 'stock_status']),
  toRows(product) {
    const isVariation = isOwnVariation(product);
    if (isVariation) return [toVariationCells(product, toCell(product.parent_id))];
    const variations = getObjects(product.variations);
    return [
      toCells(product, joinTypes(product)),
      ...variations.map(one => toVariationCells(one, toCell(product.id))),
    ];
  },
};

/** Older releases write variations without their type. */
const isOwnVariation = ({ type, parent_id: parent }: Members): boolean =>
  type === undefined ? Number(parent) > 0 : type === 'variation';

const joinTypes = ({ type, downloadable, virtual }: Members): string =>
  joinCell([
    toCell(type) || 'simple',
    downloadable === true ? 'downloadable' : '',
    virtual === true ? 'virtual' : '',
  ]);

const toVariationCells = (variation: Members, parent: string): Cells => ({
  ...toCells(variation, 'variation'),
  Parent: `id:${parent}`,
});

const toFlag = (value: unknown): string => (typeof value === 'boolean' ? String(Number(value)) : '');

function toCells(product: Members, type: string): Cells {
  return {
    ID: toCell(product.id),
    Type: type,
    SKU: toCell(product.sku),
    'GTIN, UPC, EAN, or ISBN': toCell(product.global_unique_id),
    Name: toCell(product.name),
    Published: publishedBy.get(toCell(product.status)) ?? '',
    'Is featured?': toFlag(product.featured),
    'Visibility in catalog': toCell(product.catalog_visibility),
    'Short description': guardBackslashes(toCell(product.short_description)),
    Description: guardBackslashes(toCell(product.description)),
    'Date sale price starts': toCell(product.date_on_sale_from_gmt ?? product.date_on_sale_from),
    'Date sale price ends': toCell(product.date_on_sale_to_gmt ?? product.date_on_sale_to),
    ...toStockCells(product),
    Weight: toCell(product.weight),
    ...toSizeCells(product.dimensions),
    'Sale price': toCell(product.sale_price),
    'Regular price': toCell(product.regular_price),
    Categories: joinNames(product.categories),
    Tags: joinNames(product.tags),
    Brands: joinNames(product.brands),
    'Shipping class': toCell(product.shipping_class),
    'External URL': toCell(product.external_url),
    ...toImageCells(product),
    ...toAttributeCells(product.attributes),
  };
}

const publishedBy: ReadonlyMap<string, string> = new Map([
  ...([
    ['publish', '1'],
    ['private', '0'],
  ] as const),
  ...['draft', 'pending', 'future', 'trash'].map(status => [status, '-1'] as const),
]);

/** A `\n` in a cell stands for a line end, and `\\n` for these two characters. */
const guardBackslashes = (text: string): string => text.replaceAll('\\n', '\\\\n');

const stockWords: ReadonlyMap<string, string> = new Map([
  ['instock', '1'],
  ['outofstock', '0'],
  ['onbackorder', 'backorder'],
]);

const toStockCells = (product: Members): Cells => ({
  'In stock?': stockWords.get(toCell(product.stock_status)) ?? '',
  Stock:
    product.manage_stock === 'parent'
      ? 'parent'
      : product.manage_stock === true
        ? toCell(product.stock_quantity)
        : '',
  'Backorders allowed?': toCell(product.backorders),
});

function toSizeCells(dimensions: unknown): Cells {
  const [{ length, width, height } = {}] = getObjects([dimensions]);
  return { Length: toCell(length), Width: toCell(width), Height: toCell(height) };
}

/** A variation has one image, a product several. */
function toImageCells({ images, image }: Members): Cells {
  const all = images === undefined ? getObjects([image]) : getObjects(images);
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return {
    Images: all.map(({ src }) => toCell(src)).join('\n'),
    'Image texts': all.map(({ alt }) => quote(toCell(alt))).join(','),
  };
}

/** A variation has the one value `option`, a product the list `options`. */
function toAttributeCells(attributes: unknown): Cells {
  return Object.fromEntries(
    getObjects(attributes).flatMap(({ name, options, option }, index) => [
      [`Attribute ${index + 1} name`, toCell(name)],
      [
        `Attribute ${index + 1} value(s)`,
        joinCell(Array.isArray(options) ? options.map(toCell) : [toCell(option)]),
      ],
    ]),
  );
}
