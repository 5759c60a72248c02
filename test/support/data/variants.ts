/** Products with variants, and requests for them. */
import { expect } from 'bun:test';
import { call } from '../http/http.ts';
import type { TestService } from '../service/service.ts';
import { addProduct, type Product, pathOf, read } from './catalog.ts';

export interface Variant {
  readonly id: number;
  readonly sku: string | null;
  readonly price: number | null;
  readonly position: number;
  readonly options: Readonly<Record<string, string>>;
}

export const options = [
  { name: 'Size', values: ['S', 'M', 'L'] },
  { name: 'Colour', values: ['Red', 'Blue'] },
];
export const chosen = (Size: string, Colour = 'Red') => ({ options: { Size, Colour } });

/** @param at returns the service, which exists once the first test runs */
export function variantCalls(at: () => TestService) {
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(at(), {
      method,
      path,
      as: 'editor',
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  const pathsOf = (product: Pick<Product, 'id'>) => `${pathOf(product)}/variants`;
  const shirt = (fields: object = {}) => addProduct(at(), { name: 'Shirt', price: 20, options, ...fields });
  async function add(product: Pick<Product, 'id'>, fields: object): Promise<Variant> {
    const made = await send('POST', pathsOf(product), fields);
    expect([made.status, made.text]).toEqual([201, made.text]);
    return made.body;
  }
  const shown = async (product: Pick<Product, 'id'>) => {
    const { price, priceRange, variantCount, available } = (await read(at(), product)).body;
    return [price, [priceRange.min, priceRange.max], variantCount, available];
  };
  const listed = async (product: Pick<Product, 'id'>, query = ''): Promise<Variant[]> => {
    const { status, body } = await call(at(), { path: `${pathsOf(product)}?${query}`, as: 'user' });
    expect([query, status]).toEqual([query, 200]);
    return body.data;
  };
  return { send, pathsOf, shirt, add, shown, listed };
}
