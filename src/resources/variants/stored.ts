/** The stored form of a variant's members: see short-form.ts. */
import { isBuyable } from '../products/members/stock.ts';
import { createShortForm } from '../short-form.ts';
import type { Variant } from './schema.ts';

/** A member, or null for its default. */
type Stored<Name extends keyof Variant> = Variant[Name] | null | undefined;

/** Members that most variants have come first. The order must never change: append new members. */
type List = readonly [
  productId: number,
  options: Variant['options'],
  position: number,
  createdAt: string,
  sku: Stored<'sku'>,
  price: Stored<'price'>,
  stock: Stored<'stock'>,
  updatedAt: Stored<'updatedAt'>,
  gtin: Stored<'gtin'>,
  imageId: Stored<'imageId'>,
  compareAtPrice: Stored<'compareAtPrice'>,
  weight: Stored<'weight'>,
  available: Stored<'available'>,
];

export const storedVariant = createShortForm<Omit<Variant, 'id'>, List>({
  listOf: variant => [
    variant.productId,
    variant.options,
    variant.position,
    variant.createdAt,
    variant.sku,
    variant.price,
    variant.stock,
    variant.updatedAt === variant.createdAt ? null : variant.updatedAt,
    variant.gtin,
    variant.imageId,
    variant.compareAtPrice,
    variant.weight,
    variant.available === isBuyable(variant.stock) ? null : variant.available,
  ],
  membersOf(list) {
    const [productId, options, position, createdAt, sku, price, stored, updatedAt] = list;
    const stock = stored ?? null;
    return {
      productId,
      sku: sku ?? null,
      gtin: list[8] ?? null,
      options,
      price: price ?? null,
      compareAtPrice: list[10] ?? null,
      weight: list[11] ?? null,
      stock,
      imageId: list[9] ?? null,
      position,
      available: list[12] ?? isBuyable(stock),
      createdAt,
      updatedAt: updatedAt ?? createdAt,
    };
  },
});
