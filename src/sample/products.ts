/**
 * The catalog a new shop starts with, so that every list, filter, sort and search has something to show:
 * 240 invented products in 15 categories, ten of them archived.
 */
import { home } from './home.ts';
import { houseAndGarden } from './house-and-garden.ts';
import { leisure } from './leisure.ts';
import type { CategoryRows } from './rows.ts';

export interface SampleProduct {
  readonly name: string;
  /** In the shop's default currency. */
  readonly price: number;
  readonly description: string;
  readonly sku: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly status: 'active' | 'archived';
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
      }),
    ),
  );
}

export const sampleProducts: readonly SampleProduct[] = [home, houseAndGarden, leisure].flatMap(toProducts);
