/**
 * What orders and adjustments do to the stock of a product or of a variant. Orders reserve; payment deducts what they
 * have reserved, cancellation releases it. Pure.
 */
import { largestId } from '../../storage/database.ts';
import { type Stock, setOwed } from '../products/members/stock.ts';

/** A stock of which pieces are counted. */
export type Counted = Stock & { readonly tracked: true };

export const isCounted = (stock: Stock | null): stock is Counted => stock?.tracked === true;

/** How many pieces are available to be ordered. */
export function countAvailable({ onHand, reserved, backorder }: Counted): number {
  return backorder ? Number.POSITIVE_INFINITY : Math.max(0, onHand - reserved);
}

/** For an order that has been placed. */
export const reserve = <S extends Stock>(stock: S, quantity: number): S => ({
  ...stock,
  reserved: stock.reserved + quantity,
});

/** For an order that has been cancelled. @param quantity what it had reserved */
export const release = <S extends Stock>(stock: S, quantity: number): S => ({
  ...stock,
  reserved: Math.max(0, stock.reserved - quantity),
});

/**
 * For an order that has been paid: what was sold beyond what there is, is owed from now on.
 * @param quantity as above
 */
export function deduct(stock: Stock, quantity: number): Stock {
  const missing = stock.tracked ? Math.max(0, quantity - stock.onHand) : 0;
  const after = { ...release(stock, quantity), onHand: Math.max(0, stock.onHand - quantity) };
  return setOwed(after, (stock.owed ?? 0) + missing);
}

/** Why a change cannot be made: a stable word, and what is wrong. */
export interface Obstacle {
  readonly rule: 'minimum' | 'maximum' | 'reserved';
  readonly message: string;
}

/** @returns the stock with so many pieces more, those that are owed first, or fewer; or why there cannot be so many */
export function adjust(stock: Counted, delta: number): Counted | Obstacle {
  const { onHand, reserved, backorder, owed = 0 } = stock;
  const sent = Math.max(0, Math.min(owed, delta));
  const after = onHand + delta - sent;
  const said = `delta ${delta} would change onHand from ${onHand} to ${after}`;
  if (after < 0) return { rule: 'minimum', message: `${said}; there cannot be fewer than 0` };
  if (after > largestId)
    return { rule: 'maximum', message: `${said}; there cannot be more than ${largestId}` };
  if (delta < 0 && after < reserved && !backorder)
    return { rule: 'reserved', message: `${said}; orders have reserved ${reserved}` };
  return { ...setOwed(stock, owed - sent), tracked: true, onHand: after };
}
