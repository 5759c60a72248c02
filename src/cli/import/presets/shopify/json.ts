/** Products of Shopify as JSON, from `/products.json` or its Admin API, as the rows of an export. */
import { findMember } from '../../../../json-object.ts';
import { getObjects, hasMembers, joinCell, toCell } from '../json.ts';
import type { Cells, JsonProducts } from '../preset.ts';

type Members = Readonly<Record<string, unknown>>;

export const json: JsonProducts = {
  file: 'products of Shopify as JSON',
  accepted:
    'an array of products, {"products": […]} as /products.json has it, or one of these on each line; ' +
    'each with title, handle, body_html and variants',
  // In what /products/HANDLE.js gives, which has price_varies, prices are in cents. Programs for other shops also have
  // titles, handles and variants; only Shopify names the members of these variants so.
  isProduct: value =>
    hasMembers(value, ['title', 'handle', 'variants']) &&
    !Object.hasOwn(value, 'price_varies') &&
    (Object.hasOwn(value, 'body_html') ||
      getObjects(value.variants).some(variant => hasMembers(variant, ['option1', 'price']))),
  toRows(product) {
    const images = getObjects(product.images);
    const variants = getObjects(product.variants);
    const rows: Cells[] = [];
    for (let index = 0; index < Math.max(variants.length, images.length, 1); index += 1) {
      const [variant, image] = [variants[index], images[index]];
      rows.push({
        Handle: toCell(product.handle),
        'Variant Price': '',
        ...(index === 0 ? toProductCells(product) : {}),
        ...(variant === undefined ? {} : toVariantCells(variant, images)),
        ...(image === undefined ? {} : toImageCells(image)),
      });
    }
    return rows;
  },
};

function toProductCells(product: Members): Cells {
  const { tags, options, published_at: publishedAt } = product;
  const names = Array.isArray(options) ? options : [];
  return {
    Title: toCell(product.title),
    'Body (HTML)': toCell(product.body_html),
    Vendor: toCell(product.vendor),
    'Product Category': toCell(findMember(product.category, 'full_name')),
    Type: toCell(product.product_type),
    Tags: Array.isArray(tags) ? joinCell(tags.map(toCell)) : toCell(tags),
    Status: toCell(product.status),
    ...(publishedAt === undefined ? {} : { Published: String(publishedAt !== null) }),
    ...Object.fromEntries(
      names.map((option, index) => [`Option${index + 1} Name`, toCell(findMember(option, 'name') ?? option)]),
    ),
  };
}

function toVariantCells(variant: Members, images: readonly Members[]): Cells {
  const { option1, option2, option3, grams, weight, weight_unit: unit } = variant;
  return {
    ...{
      'Option1 Value': toCell(option1),
      'Option2 Value': toCell(option2),
      'Option3 Value': toCell(option3),
    },
    'Variant SKU': toCell(variant.sku),
    'Variant Barcode': toCell(variant.barcode),
    'Variant Price': toCell(variant.price),
    'Variant Compare At Price': toCell(variant.compare_at_price),
    'Variant Grams': toCell(grams) || (toCell(weight) === '' ? '' : `${toCell(weight)} ${toCell(unit)}`),
    'Variant Image': findImage(variant, images),
    ...toStockCells(variant),
  };
}

/** The public list of products has no pieces, and says only whether a variant is available. */
function toStockCells(variant: Members): Cells {
  const {
    available,
    inventory_management: tracker,
    inventory_quantity: pieces,
    inventory_policy: policy,
  } = variant;
  const names = ['Variant Inventory Tracker', 'Variant Inventory Qty', 'Variant Inventory Policy'] as const;
  const toCells = (values: readonly unknown[]): Cells =>
    Object.fromEntries(names.map((name, index) => [name, toCell(values[index])]));
  if (tracker !== undefined) return toCells([tracker, pieces, policy]);
  if (available === true) return toCells([]);
  if (available === false) return toCells(['shopify', 0, 'deny']);
  return pieces === undefined ? {} : toCells(['shopify', pieces, policy]);
}

function findImage(
  { id, image_id: imageId, featured_image: own }: Members,
  images: readonly Members[],
): string {
  const [featured] = getObjects([own]);
  if (featured !== undefined) return toAddress(featured.src);
  const found = images.find(
    image =>
      (typeof imageId === 'number' && image.id === imageId) ||
      (Array.isArray(image.variant_ids) && image.variant_ids.includes(id)),
  );
  return toAddress(found?.src);
}

const toImageCells = ({ src, position, alt }: Members): Cells => ({
  'Image Src': toAddress(src),
  'Image Position': toCell(position),
  'Image Alt Text': toCell(alt),
});

/** Themes write addresses without a scheme. */
const toAddress = (src: unknown): string => toCell(src).replace(/^\/\//, 'https://');
