/** The states of an order, and what they allow: PENDING becomes PAID or CANCELLED, and that is the end of it. */
import type { ErrorCode } from '../../http/errors.ts';
import type { Status } from './schema.ts';

/** Whether it can still be paid and cancelled. */
export const isOpen = (status: Status): boolean => status === 'PENDING';

/** Why an order in this state can be neither paid nor cancelled; undefined when it can. */
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
