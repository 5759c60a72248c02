/** Products for tests to work on. */
import { expect } from 'bun:test';
import { call, type Received } from '../http/http.ts';
import { play } from '../http/scenario.ts';
import type { TestService } from '../service/service.ts';

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly price: number;
  readonly currency: string | null;
  readonly status: 'active' | 'archived';
  readonly description: string | null;
  readonly sku: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly rating: { readonly average: number | null; readonly count: number };
  readonly brand: string | null;
  readonly gtin: string | null;
  readonly mpn: string | null;
  readonly externalId: string | null;
  readonly compareAtPrice: number | null;
  readonly weight: { readonly value: number; readonly unit: string } | null;
  readonly categories: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly options: readonly { readonly name: string; readonly values: readonly string[] }[];
  readonly images: readonly {
    readonly id: number;
    readonly url: string;
    readonly alt: string | null;
    readonly width: number | null;
    readonly height: number | null;
    readonly colour: string | null;
    readonly type: string | null;
  }[];
  readonly stock: {
    readonly tracked: boolean;
    readonly onHand: number;
    readonly reserved: number;
    readonly backorder: boolean;
  } | null;
  readonly variantCount: number;
  readonly priceRange: { readonly min: number; readonly max: number };
  readonly available: boolean;
}

/** The other members of a product that was created with a name and a price only. */
export const plainProduct = {
  currency: 'EUR',
  status: 'active',
  description: null,
  sku: null,
  category: null,
  tags: [],
  rating: { average: null, count: 0 },
  brand: null,
  gtin: null,
  mpn: null,
  externalId: null,
  compareAtPrice: null,
  weight: null,
  categories: [],
  attributes: {},
  options: [],
  images: [],
  stock: null,
  variantCount: 0,
};

/** A product without stock or variants, with the members derived from its price and status. */
export const whole = <P extends { readonly price: number; readonly status: string }>(product: P) => ({
  ...product,
  priceRange: { min: product.price, max: product.price },
  available: product.status === 'active',
});

/** The service's current time, as representations show it. */
export const nowOf = (service: Pick<TestService, 'clock'>) => new Date(service.clock.now()).toISOString();

/** @throws Error when the product is not created */
export async function addProduct(service: TestService, fields: object = {}): Promise<Product> {
  const body = { name: 'Lamp', price: 12.5, ...fields };
  const made = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body });
  if (made.status === 201) return made.body;
  const reasons = service.log().filter(({ level }) => level === 'warn' || level === 'error');
  const reason = reasons.map(line => JSON.stringify(line)).at(-1) ?? '';
  throw new Error(`POST /v1/products answered ${made.status}: ${made.text} ${reason}`);
}

export const pathOf = (product: Pick<Product, 'id'>) => `/v1/products/${product.id}`;

export function read(service: TestService, product: Pick<Product, 'id'>): Promise<Received> {
  return call(service, { path: pathOf(product), as: 'user' });
}

/**
 * Resolves when suggestions come from the names in memory, which a product added for this shows. A service waits at
 * most half a second for the names to be read; until they are, it uses the index, which also holds pieces of codes.
 */
export async function awaitNames(service: TestService): Promise<void> {
  const probe = { name: 'Quxnames', sku: 'X-QUX-1' };
  const { body } = await call(service, { path: `/v1/products?sku=${probe.sku}`, as: 'user' });
  if (body.data.length === 0) await addProduct(service, probe);
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { body } = await call(service, { path: '/v1/search/suggest?q=qux', as: 'user' });
    if (body.words.join() === 'quxnames') return;
    if (performance.now() > deadline) throw new Error(`no names were read: ${JSON.stringify(body)}`);
  }
}

/** Resolves when no pending work of earlier requests (reading names, notifications) can change what is shown. */
export async function settleShown(service: TestService): Promise<void> {
  await awaitNames(service);
  await service.settle();
}

/** The ids of the products in a list, all of them on its first page. */
export async function readListedIds(service: TestService, query: string): Promise<number[]> {
  const { status, body } = await call(service, { path: `/v1/products?${query}`, as: 'user' });
  expect([query, status]).toEqual([query, 200]);
  expect([query, body.meta.total]).toEqual([query, body.data.length]);
  return body.data.map(({ id }: Product) => id);
}

/** Gives products the same update; its response is checked, and if it is an error, that nothing was written. */
export const updateMany = (
  service: TestService,
  name: string,
  {
    ids,
    update,
    status = 200,
  }: { readonly ids: readonly number[]; readonly update: object; readonly status?: number },
) =>
  play(service, { name, method: 'PATCH', path: '/v1/products', as: 'editor', body: { ids, update }, status });
