/**
 * What orders and adjustments do to the stock of a product or of a variant. Orders reserve; payment takes what they have
 * reserved, cancellation gives it back. Pure.
 */
import { largestId } from '../../storage/database.ts';
import type { Stock } from '../products/members/stock.ts';

/** A stock of which pieces are counted. */
export type Counted = Stock & { readonly tracked: true };

export const isCounted = (stock: Stock | null): stock is Counted => stock?.tracked === true;

/** How many pieces can be ordered now. */
export function obtainable({ onHand, reserved, backorder }: Counted): number {
  return backorder ? Number.POSITIVE_INFINITY : Math.max(0, onHand - reserved);
}

/** For an order that has been placed. */
export const reserve = <S extends Stock>(stock: S, quantity: number): S => ({
  ...stock,
  reserved: stock.reserved + quantity,
});

/** For an order that has been cancelled. @param quantity what it had reserved */
export const giveBack = <S extends Stock>(stock: S, quantity: number): S => ({
  ...stock,
  reserved: Math.max(0, stock.reserved - quantity),
});

/** For an order that has been paid: what was sold beyond what there is, is not counted. @param quantity as above */
export const take = <S extends Stock>(stock: S, quantity: number): S => ({
  ...giveBack(stock, quantity),
  onHand: Math.max(0, stock.onHand - quantity),
});

/** Why a change cannot be made: a stable word, and what is wrong. */
export interface Obstacle {
  readonly rule: 'minimum' | 'maximum' | 'reserved';
  readonly message: string;
}

/** @returns the stock with so many pieces more, or fewer; or why there cannot be so many */
export function adjust(stock: Counted, delta: number): Counted | Obstacle {
  const { onHand, reserved, backorder } = stock;
  const after = onHand + delta;
  const said = `${delta} would make ${onHand} on hand ${after}`;
  if (after < 0) return { rule: 'minimum', message: `${said}; there cannot be fewer than 0` };
  if (after > largestId)
    return { rule: 'maximum', message: `${said}; there cannot be more than ${largestId}` };
  if (delta < 0 && after < reserved && !backorder)
    return { rule: 'reserved', message: `${said}; orders have reserved ${reserved}` };
  return { ...stock, onHand: after };
}
