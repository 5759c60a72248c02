/**
 * The catalog that a new shop can start with, so that every list, filter, sort and search has something to show:
 * 240 invented products in 15 categories, ten of them archived; the stock of some is counted.
 */
import type { Option } from '../resources/products/members/options.ts';
import { details, options, stocks } from './details.ts';
import { home } from './home.ts';
import { houseAndGarden } from './house-and-garden.ts';
import { leisure } from './leisure.ts';
import type { CategoryRows, DetailRows } from './rows.ts';

export interface SampleProduct {
  readonly name: string;
  /** In the shop's default currency. */
  readonly price: number;
  readonly description: string;
  readonly sku: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly status: 'active' | 'archived';
  readonly brand?: string;
  readonly gtin?: string;
  readonly weight?: { readonly value: number; readonly unit: 'g' | 'kg' };
  readonly attributes?: DetailRows[string][4];
  readonly compareAtPrice?: number;
  readonly options?: readonly Option[];
  readonly stock?: { readonly tracked: true; readonly onHand: number };
}

function findDetails(sku: string): Partial<SampleProduct> {
  const row = details[sku];
  if (row === undefined) return {};
  const [brand, gtin, value, unit, attributes, compareAtPrice] = row;
  const before = compareAtPrice === undefined ? {} : { compareAtPrice };
  return { brand, gtin, weight: { value, unit }, attributes, ...before };
}

function findStock(sku: string): Partial<SampleProduct> {
  const onHand = stocks[sku];
  return onHand === undefined ? {} : { stock: { tracked: true, onHand } };
}

function findOptions(sku: string): Partial<SampleProduct> {
  const values = options[sku];
  return values === undefined ? {} : { options: values };
}

function toProducts(rows: CategoryRows): SampleProduct[] {
  return Object.entries(rows).flatMap(([category, products]) =>
    products.map(
      ([sku, name, price, tags, description, status]): SampleProduct => ({
        name,
        price,
        description,
        sku,
        category,
        tags: tags.split(' '),
        status: status ?? 'active',
        ...findDetails(sku),
        ...findOptions(sku),
        ...findStock(sku),
      }),
    ),
  );
}

export const sampleProducts: readonly SampleProduct[] = [home, houseAndGarden, leisure].flatMap(toProducts);
