/** Stock for tests to sell from. */
import { expect } from 'bun:test';
import { call, type Received } from '../http/http.ts';
import type { TestService } from '../service/service.ts';
import { addProduct, pathOf } from './catalog.ts';
import { userIdOf } from './people.ts';

interface Shown {
  readonly onHand: number;
  readonly reserved: number;
  readonly available: boolean;
}

/** Creates a product with this many pieces in stock. */
export const addStocked = (service: TestService, onHand: number, stock: object = {}, fields: object = {}) =>
  addProduct(service, { price: 10, stock: { onHand, ...stock }, ...fields });

type Line = readonly [product: { readonly id: number }, quantity: number];

/** Orders as the user, whatever the response. */
export async function order(service: TestService, ...lines: readonly Line[]): Promise<Received> {
  const id = await userIdOf(service, 'user');
  const items = lines.map(([product, quantity]) => ({ productId: product.id, quantity }));
  return call(service, { method: 'POST', path: `/v1/users/${id}/orders`, as: 'user', body: { items } });
}

/** Places an order, which must succeed. @returns the order's path */
export async function ordered(
  service: TestService,
  ...lines: readonly Line[]
): Promise<{ path: string; id: number }> {
  const { status, body, text } = await order(service, ...lines);
  expect(status === 201 ? 201 : text).toBe(201);
  return { path: `/v1/orders/${body.id}`, id: body.id };
}

export function adjust(
  service: TestService,
  adjustments: readonly object[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  return call(service, {
    method: 'POST',
    path: '/v1/stock/adjustments',
    as: 'editor',
    headers,
    body: { adjustments },
  });
}

/** What a product shows of its stock, also in lists. */
export async function shownOf(service: TestService, product: { readonly id: number }): Promise<Shown> {
  const { body } = await call(service, { path: pathOf(product), as: 'user' });
  const listed = await call(service, {
    path: `/v1/products?available=${body.available}&perPage=100&sort=id&order=desc`,
    as: 'user',
  });
  const inList = listed.body.data.find(({ id }: { id: number }) => id === product.id);
  expect(inList).toEqual(body);
  return { onHand: body.stock.onHand, reserved: body.stock.reserved, available: body.available };
}
