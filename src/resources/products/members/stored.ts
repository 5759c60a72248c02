/** The stored form of a product's members: see short-form.ts. */
import { createShortForm, toNullIfEmpty } from '../../short-form.ts';
import type { Product } from '../schema.ts';
import { isBuyable } from './stock.ts';

/** A member, or null for its default. */
type Stored<Name extends keyof Product> = Product[Name] | null | undefined;

/** Members that most products have come first. The order must never change: append new members. */
type List = readonly [
  category: Product['category'],
  categories: Product['categories'],
  name: Product['name'],
  price: Product['price'],
  currency: Product['currency'],
  description: Product['description'],
  sku: Product['sku'],
  tags: Product['tags'],
  createdAt: string,
  updatedAt: Stored<'updatedAt'>,
  status: Stored<'status'>,
  brand: Stored<'brand'>,
  images: Stored<'images'>,
  gtin: Stored<'gtin'>,
  mpn: Stored<'mpn'>,
  externalId: Stored<'externalId'>,
  attributes: Stored<'attributes'>,
  stock: Stored<'stock'>,
  weight: Stored<'weight'>,
  compareAtPrice: Stored<'compareAtPrice'>,
  rating: Stored<'rating'>,
  options: Stored<'options'>,
  variantCount: Stored<'variantCount'>,
  priceRange: Stored<'priceRange'>,
  available: Stored<'available'>,
  basePrice: Stored<'basePrice'>,
];

const unrated = { average: null, count: 0 };

/** Whether a product without variants can be bought. */
const isAvailable = (status: Product['status'], stock: Product['stock']): boolean =>
  status === 'active' && isBuyable(stock);

const isOnePrice = ({ price, priceRange }: Pick<Product, 'price' | 'priceRange'>): boolean =>
  priceRange.min === price && priceRange.max === price;

export const storedProduct = createShortForm<Omit<Product, 'id'>, List>({
  // Reads replace the first two with the current paths: see storage/categories/shown.ts.
  onFirstLine: 2,
  listOf: product => [
    product.category,
    product.categories,
    product.name,
    product.price,
    product.currency,
    product.description,
    product.sku,
    product.tags,
    product.createdAt,
    product.updatedAt === product.createdAt ? null : product.updatedAt,
    product.status === 'active' ? null : product.status,
    product.brand,
    toNullIfEmpty(product.images),
    product.gtin,
    product.mpn,
    product.externalId,
    toNullIfEmpty(product.attributes),
    product.stock,
    product.weight,
    product.compareAtPrice,
    product.rating.count === 0 ? null : product.rating,
    toNullIfEmpty(product.options),
    product.variantCount === 0 ? null : product.variantCount,
    isOnePrice(product) ? null : product.priceRange,
    product.available === isAvailable(product.status, product.stock) ? null : product.available,
    product.basePrice ?? null,
  ],
  membersOf(list) {
    const [category, categories, name, price, currency, description, sku, tags, createdAt, updatedAt] = list;
    const [status, stock] = [list[10] ?? 'active', list[17] ?? null];
    const members = {
      category,
      categories,
      name,
      price,
      currency: currency ?? null,
      status,
      description: description ?? null,
      sku: sku ?? null,
      tags,
      createdAt,
      updatedAt: updatedAt ?? createdAt,
      rating: list[20] ?? unrated,
      brand: list[11] ?? null,
      gtin: list[13] ?? null,
      mpn: list[14] ?? null,
      externalId: list[15] ?? null,
      compareAtPrice: list[19] ?? null,
      weight: list[18] ?? null,
      attributes: list[16] ?? {},
      options: list[21] ?? [],
      images: list[12] ?? [],
      stock,
      variantCount: list[22] ?? 0,
      priceRange: list[23] ?? { min: price, max: price },
      available: list[24] ?? isAvailable(status, stock),
    };
    return list[25] == null ? members : { ...members, basePrice: list[25] };
  },
});
