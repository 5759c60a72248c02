/** Stock: how many pieces there are. */
import { z } from 'zod';
import type { PatchBody } from '../../../http/endpoint.ts';
import { largestId } from '../../../storage/database.ts';

export const pieces = z.int().min(0).max(largestId);

export const stock = z
  .object({
    tracked: z.boolean().describe('Whether pieces are counted at all.'),
    onHand: pieces.describe('Pieces there are, with those reserved.'),
    reserved: pieces.describe('Of these, pieces that orders have reserved. Read-only.'),
    backorder: z.boolean().describe('Whether it is sold beyond what there is.'),
    owed: pieces
      .optional()
      .describe(
        'Pieces that were sold beyond what there was, and paid; left out where there are none. Read-only.',
      ),
  })
  .meta({ id: 'Stock' });

const members = {
  tracked: z.boolean().nullish(),
  onHand: pieces.nullish(),
  reserved: pieces.nullish().describe('Read-only: may be sent back.'),
  backorder: z.boolean().nullish(),
  owed: pieces.nullish().describe('Read-only: may be sent back.'),
};

/** What products and variants say of the member. */
export const stockText = 'How many pieces there are; null where nothing is counted.';

/** As clients write it; what orders have reserved is not theirs to say. */
export const sentStock = z
  .object({
    ...members,
    tracked: members.tracked.describe('Whether pieces are counted at all; true when it is left out.'),
    onHand: members.onHand.describe('Pieces there are; 0 when it is left out.'),
    backorder: members.backorder.describe('Whether it is sold beyond what there is; false when left out.'),
  })
  .transform(sent => completeStock(sent, null))
  .meta({ id: 'SentStock' });

/** A part of it, for PATCH: what is left out of a stock that there is stays as it is. */
export const changedStock = z
  .object({
    ...members,
    tracked: members.tracked.describe('Whether pieces are counted at all; stays when it is left out.'),
    onHand: members.onHand.describe('Pieces there are; stays when it is left out.'),
    backorder: members.backorder.describe('Whether it is sold beyond what there is; stays when left out.'),
  })
  .meta({ id: 'ChangedStock' });

/** A part of it, in a record of an import: what it comes to depends on what there is, see `completeStock`. */
export const stockPart = z
  .object(members)
  .transform(({ tracked, onHand, backorder }): StockPart => ({ tracked, onHand, backorder }));

export type Stock = z.output<typeof stock>;

/** What is left out of a part is undefined; null stands for what is usual. */
export interface StockPart {
  readonly tracked?: boolean | null | undefined;
  readonly onHand?: number | null | undefined;
  readonly backorder?: boolean | null | undefined;
}

/** What clients write of a stock, complete. */
export interface StockFields {
  readonly tracked: boolean;
  readonly onHand: number;
  readonly backorder: boolean;
}

/** What a part of a stock comes to. @param before the stock there is, whose members stay where the part leaves them out */
export function completeStock(part: StockPart, before: StockFields | null): StockFields {
  const usual = { tracked: true, onHand: 0, backorder: false };
  const kept = before ?? usual;
  return {
    tracked: part.tracked === undefined ? kept.tracked : (part.tracked ?? usual.tracked),
    onHand: part.onHand === undefined ? kept.onHand : (part.onHand ?? usual.onHand),
    backorder: part.backorder === undefined ? kept.backorder : (part.backorder ?? usual.backorder),
  };
}

/**
 * What a part in a record of an import comes to. One that says only that nothing is counted makes no stock where there is
 * none, and leaves the pieces of one that there is.
 */
export function mergeStockPart(part: StockPart, before: StockFields | null): StockFields | null {
  const { tracked, onHand, backorder } = part;
  const isUncounted = tracked === false && onHand === undefined && backorder === undefined;
  return isUncounted && before === null ? null : completeStock(part, before);
}

/** What the service keeps of a stock, whatever clients write. */
export interface KeptStock {
  /** Pieces that orders have reserved. */
  readonly reserved: number;
  readonly owed: number;
  /** The pieces at which so many are owed: another number is a count of what is left once they have gone out. */
  readonly onHand: number;
}

export const toKeptStock = (stock: Stock | null): KeptStock => ({
  reserved: stock?.reserved ?? 0,
  owed: stock?.owed ?? 0,
  onHand: stock?.onHand ?? 0,
});

/**
 * @param kept of it so far; what orders have reserved is never forgotten: an import may say that nothing is counted any
 * more
 */
export function toStock(fields: StockFields | null, kept: KeptStock): Stock | null {
  const { reserved } = kept;
  if (fields === null)
    return reserved === 0 ? null : { tracked: false, onHand: 0, reserved, backorder: false };
  const { tracked, onHand, backorder } = fields;
  return setOwed({ tracked, onHand, reserved, backorder }, onHand === kept.onHand ? kept.owed : 0);
}

/** The same stock, owing so many pieces. */
export function setOwed<S extends Stock>({ owed: _before, ...stock }: S, owed: number) {
  return owed > 0 ? { ...stock, owed } : stock;
}

interface StockChanges {
  readonly stock?: z.output<typeof changedStock> | null | undefined;
}

/** A change by PATCH, with what it does not say of a stock that there is. */
export function completeStockChange<Changes extends StockChanges>(
  { stock }: { readonly stock: Stock | null },
  body: PatchBody<Changes>,
): PatchBody<object> {
  if (body.kind !== 'partial' || body.changes.stock == null || stock === null) return body;
  return { kind: 'partial', changes: { ...body.changes, stock: { ...stock, ...body.changes.stock } } };
}

/** What clients have written of it. */
export function toStockFields(stock: Stock | null): StockFields | null {
  if (stock === null) return null;
  const { tracked, onHand, backorder } = stock;
  return { tracked, onHand, backorder };
}

/** Whether a piece can be bought now. */
export function isBuyable(stock: Stock | null): boolean {
  return stock === null || !stock.tracked || stock.backorder || stock.onHand > stock.reserved;
}
