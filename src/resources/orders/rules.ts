/** The states of an order: PENDING becomes PAID or CANCELLED, which are final. */
import { HttpError } from '../../http/errors.ts';
import type { Status } from './schema.ts';

/** Whether the order can still be paid or cancelled. */
export const isOpen = (status: Status): boolean => status === 'PENDING';

/** The error for paying or cancelling an order in this state, in which neither is possible. */
const obstacles = { PAID: 'ORDER_ALREADY_PAID', CANCELLED: 'ORDER_ALREADY_CANCELLED' } as const;

/** @throws HttpError 409 for an order that can no longer be paid or cancelled */
export function requireOpen({ status }: { readonly status: Status }): void {
  if (status !== 'PENDING') throw new HttpError(obstacles[status]);
}
