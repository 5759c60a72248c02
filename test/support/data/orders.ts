/** Orders for tests to work on. */
import type { Role } from '../../../src/http/access.ts';
import { call, type Received } from '../http/http.ts';
import type { TestService } from '../service/service.ts';
import { addProduct, type Product } from './catalog.ts';
import { userIdOf } from './people.ts';

export const halType = 'application/hal+json';

export interface Placed {
  readonly product: Product;
  readonly customerId: number;
  /** `/v1/orders/{id}` */
  readonly path: string;
  /** The whole body of the response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of every shape, and assert what they find
  readonly order: any;
}

/**
 * Orders two pieces of a product at 79.50 EUR, unless the caller specifies other lines.
 * @throws Error when the order is not placed
 */
export async function placeOrder(
  service: TestService,
  { as = 'user', product: fields = {}, quantity = 2 }: PlaceOptions = {},
): Promise<Placed> {
  const product = await addProduct(service, { price: 79.5, ...fields });
  const customerId = await userIdOf(service, as);
  const body = { items: [{ productId: product.id, quantity }] };
  const made = await call(service, { method: 'POST', path: `/v1/users/${customerId}/orders`, as, body });
  if (made.status !== 201) throw new Error(`the order was not placed: ${made.status} ${made.text}`);
  return { product, customerId, path: `/v1/orders/${made.body.id}`, order: made.body };
}

interface PlaceOptions {
  readonly as?: Role;
  readonly product?: object;
  readonly quantity?: number;
}

export const act = (
  service: TestService,
  { path }: Pick<Placed, 'path'>,
  action: 'cancel' | 'payment',
  as: Role = 'user',
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> => call(service, { method: 'POST', path: `${path}/${action}`, as, headers });

export const readOrder = (service: TestService, { path }: Pick<Placed, 'path'>, as: Role = 'user') =>
  call(service, { path, as });

/** The body of an order for these quantities. */
export const lines = (...items: [productId: number, quantity: number][]) => ({
  items: items.map(([productId, quantity]) => ({ productId, quantity })),
});
