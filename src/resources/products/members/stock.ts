/** Stock: how many pieces there are. */
import { z } from 'zod';
import type { PatchBody } from '../../../http/endpoint.ts';
import { maxId } from '../../../storage/database.ts';

export const pieces = z.int().min(0).max(maxId);

export const stock = z
  .object({
    tracked: z.boolean().describe('Whether stock is counted.'),
    onHand: pieces.describe('Pieces in stock, including reserved ones.'),
    reserved: pieces.describe('Of these, pieces reserved for orders. Read-only.'),
    backorder: z.boolean().describe('Whether it can be sold when out of stock.'),
    owed: pieces
      .optional()
      .describe('Pieces that were sold and paid for while out of stock; absent if none. Read-only.'),
  })
  .meta({ id: 'Stock' });

const members = {
  tracked: z.boolean().nullish(),
  onHand: pieces.nullish(),
  reserved: pieces.nullish().describe('Read-only: requests may include it.'),
  backorder: z.boolean().nullish(),
  owed: pieces.nullish().describe('Read-only: requests may include it.'),
};

/** The description of `stock` in products and variants. */
export const stockText = 'The stock; null if it is not counted.';

/** The stock in a request; clients cannot set what orders have reserved. */
export const sentStock = z
  .object({
    ...members,
    tracked: members.tracked.describe('Whether stock is counted; default true.'),
    onHand: members.onHand.describe('Pieces in stock; default 0.'),
    backorder: members.backorder.describe('Whether it can be sold when out of stock; default false.'),
  })
  .transform(sent => completeStock(sent, null))
  .meta({ id: 'SentStock' });

/** The stock in a PATCH: omitted members of an existing stock stay as they are. */
export const changedStock = z
  .object({
    ...members,
    tracked: members.tracked.describe('Whether stock is counted; unchanged if omitted.'),
    onHand: members.onHand.describe('Pieces in stock; unchanged if omitted.'),
    backorder: members.backorder.describe('Whether it can be sold when out of stock; unchanged if omitted.'),
  })
  .meta({ id: 'ChangedStock' });

/** The stock in a record of an import; the result depends on the existing stock, see `completeStock`. */
export const stockPart = z
  .object(members)
  .transform(({ tracked, onHand, backorder }): StockPart => ({ tracked, onHand, backorder }));

export type Stock = z.output<typeof stock>;

/** All members of a stock that clients may set. */
export type StockFields = Readonly<Pick<Stock, 'tracked' | 'onHand' | 'backorder'>>;

/** Part of a stock: undefined for omitted members, null for defaults. */
export type StockPart = { readonly [Name in keyof StockFields]?: StockFields[Name] | null | undefined };

/** Completes a part of a stock. @param before the existing stock, which supplies omitted members */
export function completeStock(part: StockPart, before: StockFields | null): StockFields {
  const usual = { tracked: true, onHand: 0, backorder: false };
  const kept = before ?? usual;
  return {
    tracked: part.tracked === undefined ? kept.tracked : (part.tracked ?? usual.tracked),
    // JSON and cells may have -0, which would compare as a different number.
    onHand: 0 + (part.onHand === undefined ? kept.onHand : (part.onHand ?? usual.onHand)),
    backorder: part.backorder === undefined ? kept.backorder : (part.backorder ?? usual.backorder),
  };
}

/**
 * The result of a part in a record of an import. A part that only says that nothing is counted creates no stock, and
 * keeps the pieces of an existing one.
 */
export function mergeStockPart(part: StockPart, before: StockFields | null): StockFields | null {
  const { tracked, onHand, backorder } = part;
  const isUncounted = tracked === false && onHand === undefined && backorder === undefined;
  return isUncounted && before === null ? null : completeStock(part, before);
}

/** What the service maintains of a stock; clients cannot set it. */
export interface KeptStock {
  /** Pieces that orders have reserved. */
  readonly reserved: number;
  readonly owed: number;
  /** The pieces on hand when `owed` was set: a different number is a new count, made after owed pieces were shipped. */
  readonly onHand: number;
}

export const toKeptStock = (stock: Stock | null): KeptStock => ({
  reserved: stock?.reserved ?? 0,
  owed: stock?.owed ?? 0,
  onHand: stock?.onHand ?? 0,
});

/** @param kept of the former stock; reserved pieces always stay, even if an import ends tracking */
export function toStock(fields: StockFields | null, kept: KeptStock): Stock | null {
  const { reserved } = kept;
  if (fields === null)
    return reserved === 0 ? null : { tracked: false, onHand: 0, reserved, backorder: false };
  const { tracked, onHand, backorder } = fields;
  return setOwed({ tracked, onHand, reserved, backorder }, onHand === kept.onHand ? kept.owed : 0);
}

/** The same stock with this number of owed pieces. */
export function setOwed<S extends Stock>({ owed: _before, ...stock }: S, owed: number) {
  return owed > 0 ? { ...stock, owed } : stock;
}

interface StockChanges {
  readonly stock?: z.output<typeof changedStock> | null | undefined;
}

/** Completes a change of the stock by PATCH with the members of the existing stock. */
export function completeStockChange<Changes extends StockChanges>(
  { stock }: { readonly stock: Stock | null },
  body: PatchBody<Changes>,
): PatchBody<object> {
  if (body.kind !== 'partial' || body.changes.stock == null || stock === null) return body;
  return { kind: 'partial', changes: { ...body.changes, stock: { ...stock, ...body.changes.stock } } };
}

/** The members of a stock that clients may set. */
export function toStockFields(stock: Stock | null): StockFields | null {
  if (stock === null) return null;
  const { tracked, onHand, backorder } = stock;
  return { tracked, onHand, backorder };
}

/** Whether a piece can be bought now. */
export function isBuyable(stock: Stock | null): boolean {
  return stock === null || !stock.tracked || stock.backorder || stock.onHand > stock.reserved;
}
