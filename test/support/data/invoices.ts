/** Invoices for tests to work on, issued by placing and paying orders over HTTP. */
import type { Role } from '../../../src/http/access.ts';
import { call, type Received } from '../http/http.ts';
import type { TestService } from '../service/service.ts';
import { userIdOf } from './people.ts';

export interface Line {
  readonly name: string;
  readonly price: number;
  readonly quantity: number;
  readonly sku?: string;
  readonly currency?: string;
}

const one: readonly Line[] = [{ name: 'Lamp', price: 79.5, quantity: 2 }];

/** @returns the order's id */
export async function placeOrder(
  service: TestService,
  as: Role = 'user',
  lines: readonly Line[] = one,
): Promise<number> {
  const items: { productId: number; quantity: number }[] = [];
  for (const { quantity, ...product } of lines) {
    const made = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body: product });
    if (made.status !== 201) throw new Error(made.text);
    items.push({ productId: made.body.id, quantity });
  }
  const path = `/v1/users/${await userIdOf(service, as)}/orders`;
  const placed = await call(service, { method: 'POST', path, as, body: { items } });
  if (placed.status !== 201) throw new Error(placed.text);
  return placed.body.id;
}

export const pay = (service: TestService, id: number, as: Role = 'user', headers = {}): Promise<Received> =>
  call(service, { method: 'POST', path: `/v1/orders/${id}/payment`, as, headers });

/** Places and pays an order. @returns the representation of its invoice */
export async function invoiced(service: TestService, as: Role = 'user', lines: readonly Line[] = one) {
  const orderId = await placeOrder(service, as, lines);
  const paid = await pay(service, orderId, as);
  if (paid.status !== 200) throw new Error(paid.text);
  const listed = await call(service, { path: `/v1/invoices?orderId=${orderId}`, as });
  return listed.body.data[0];
}
