/**
 * How orders and adjustments change the stock of a product or variant. Orders reserve; payment deducts the reserved
 * quantity, and cancellation releases it. Pure.
 */
import { maxId } from '../../storage/database.ts';
import { type Stock, setOwed } from '../products/members/stock.ts';

export type Counted = Stock & { readonly tracked: true };

export const isCounted = (stock: Stock | null): stock is Counted => stock?.tracked === true;

/** The quantity that can still be ordered; on backorder, until so many pieces are reserved and owed as can be counted. */
export function countAvailable({ onHand, reserved, backorder, owed = 0 }: Counted): number {
  return Math.max(0, (backorder ? maxId - owed : onHand) - reserved);
}

/** Reserves the quantity of a new order. */
export const reserve = <S extends Stock>(stock: S, quantity: number): S => ({
  ...stock,
  reserved: stock.reserved + quantity,
});

/** Releases the quantity that a cancelled order had reserved. */
export const release = <S extends Stock>(stock: S, quantity: number): S => ({
  ...stock,
  reserved: Math.max(0, stock.reserved - quantity),
});

/** Deducts the quantity that a paid order had reserved; what exceeds the stock is owed from then on. */
export function deduct(stock: Stock, quantity: number): Stock {
  const missing = stock.tracked ? Math.max(0, quantity - stock.onHand) : 0;
  const after = { ...release(stock, quantity), onHand: Math.max(0, stock.onHand - quantity) };
  return setOwed(after, (stock.owed ?? 0) + missing);
}

/** Why a change is impossible: a stable code, and a message. */
export interface Obstacle {
  readonly rule: 'minimum' | 'maximum' | 'reserved';
  readonly message: string;
}

/** @returns the stock with pieces added or removed; added ones settle owed ones first; or why that is impossible */
export function adjust(stock: Counted, delta: number): Counted | Obstacle {
  const { onHand, reserved, backorder, owed = 0 } = stock;
  const sent = Math.max(0, Math.min(owed, delta));
  const after = onHand + delta - sent;
  const said = `delta ${delta} would change onHand from ${onHand} to ${after}`;
  if (after < 0) return { rule: 'minimum', message: `${said}; there cannot be fewer than 0` };
  if (after > maxId) return { rule: 'maximum', message: `${said}; there cannot be more than ${maxId}` };
  if (delta < 0 && after < reserved && !backorder)
    return { rule: 'reserved', message: `${said}; orders have reserved ${reserved}` };
  return { ...setOwed(stock, owed - sent), tracked: true, onHand: after };
}
