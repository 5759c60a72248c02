/** The expected content of a list of products, computed independently of the service. */
import { addProduct, type Product } from '../data/catalog.ts';
import type { TestService } from '../service/service.ts';

export interface ListQuery {
  readonly sort?: string;
  readonly order?: string;
  readonly status?: string;
  readonly category?: string;
  readonly sku?: string;
  readonly tag?: string;
  readonly minPrice?: number;
  readonly maxPrice?: number;
}

/** Compares strings by Unicode code point, which is the order of their UTF-8 bytes, and numbers by value. */
function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function expectedList(products: Iterable<Product>, query: ListQuery): Product[] {
  const { sort = 'id', order = 'asc', status, category, sku, tag, minPrice, maxPrice } = query;
  const member = (sort === 'created_at' ? 'createdAt' : sort) as 'id' | 'price' | 'name' | 'createdAt';
  const direction = order === 'desc' ? -1 : 1;
  return [...products]
    .filter(product => status === undefined || product.status === status)
    .filter(product => category === undefined || product.category === category)
    .filter(product => sku === undefined || product.sku === sku)
    .filter(product => tag === undefined || product.tags.includes(tag))
    .filter(product => minPrice === undefined || product.price >= minPrice)
    .filter(product => maxPrice === undefined || product.price <= maxPrice)
    .sort((a, b) => direction * (compare(a[member], b[member]) || a.id - b.id));
}

export function searchOf(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return parameters.toString();
}

const names = ['Zebra', 'apple', 'Apple', 'Äpfel', 'zoo', '10', '9', 'a b', 'ａ', '𝔞', 'é', 'e\u0301'];
/** Each tag is on fewer products than the one before; some products have the same tag twice. */
const tags = ['used', 'ｗood', 'desk'];
const categories = ['lighting', 'chairs', null];

/** Products with ties in every sort, at five moments. */
export async function addVariety(service: TestService, count: number): Promise<Product[]> {
  const made: Product[] = [];
  for (let batch = 0; batch < 5; batch++) {
    service.clock.advance(1000);
    const indices = Array.from({ length: count / 5 }, (_, index) => (batch * count) / 5 + index);
    const added = indices.map(index =>
      addProduct(service, {
        name: names[(index * 7) % names.length],
        price: [0, 0.1, 1, 1, 9.99, 10, 100][(index * 3) % 7],
        category: categories[index % 3],
        sku: `SKU ${index}`,
        tags: [...tags.slice(0, index % 4), ...tags.slice(0, index % 2)],
        status: index % 4 === 0 ? 'archived' : 'active',
      }),
    );
    made.push(...(await Promise.all(added)));
  }
  return made;
}

export const filters: readonly ListQuery[] = [
  {},
  { status: 'active' },
  { status: 'archived' },
  { category: 'lighting' },
  { category: 'chairs', status: 'archived' },
  { category: 'unknown' },
  { minPrice: 1 },
  { maxPrice: 1 },
  { minPrice: 0.1, maxPrice: 9.99, status: 'active' },
  { minPrice: 10, maxPrice: 1 },
  { sku: 'SKU 7' },
  { sku: 'sku 7' },
  { sku: 'SKU 4', status: 'active' },
  { tag: 'used' },
  { tag: 'ｗood', category: 'lighting' },
  { tag: 'desk', minPrice: 1, status: 'active' },
  { tag: 'Desk' },
];

/** Every sort in both directions, as requested and by default. */
export const orderings: readonly ListQuery[] = [
  {},
  { order: 'desc' },
  { sort: 'id', order: 'asc' },
  { sort: 'price' },
  { sort: 'price', order: 'desc' },
  { sort: 'name', order: 'asc' },
  { sort: 'name', order: 'desc' },
  { sort: 'created_at', order: 'asc' },
  { sort: 'created_at', order: 'desc' },
  { sort: 'createdAt' },
];
