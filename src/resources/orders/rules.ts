/** The states of an order: PENDING becomes PAID or CANCELLED, which are final. */
import type { ErrorCode } from '../../http/errors.ts';
import type { Status } from './schema.ts';

/** Whether the order can still be paid or cancelled. */
export const isOpen = (status: Status): boolean => status === 'PENDING';

/** The error for paying or cancelling an order in this state; undefined if both are possible. */
export function findObstacle(status: Status): ErrorCode | undefined {
  switch (status) {
    case 'PENDING':
      return undefined;
    case 'PAID':
      return 'ORDER_ALREADY_PAID';
    case 'CANCELLED':
      return 'ORDER_ALREADY_CANCELLED';
  }
}
