/** Reads the stock of a product or variation of WooCommerce. */
import { splitList } from '../../../../files/cells/list.ts';
import { outOfStock, readPiecesCell, uncounted } from '../cells.ts';
import type { Drafting, Row, Stock, Uncounted } from '../preset.ts';

/** The types of a product, such as `simple, downloadable, virtual`. */
export const readTypes = (row: Row): ReadonlySet<string> =>
  new Set(splitList(row.text('type').toLowerCase(), ','));

const sharedStock =
  'variants are sold without a limit: the shop tracks their stock only in total, on the product';

const soldElsewhere =
  'external products, which another shop sells, got no stock: they cannot be ordered here';

export function readShopStock(row: Row, drafting: Drafting): Stock | Uncounted | undefined {
  if (readTypes(row).has('external')) {
    drafting.note(soldElsewhere);
    return outOfStock;
  }
  const backorder = /^(?:1|yes|notify)$/i.test(row.text('backorders'));
  // The stock of all variations is counted together, which variants here cannot express.
  const isShared = row.text('stock') === 'parent';
  const inStock = row.text('inStock').toLowerCase();
  const isOut = inStock === '0' || inStock === 'no';
  const pieces = isShared ? undefined : readPiecesCell(row, 'stock', drafting, isOut);
  if (pieces !== undefined) return { tracked: true, onHand: pieces, backorder };
  if (inStock === 'backorder') return { ...outOfStock, backorder: true };
  if (isOut) return outOfStock;
  if (isShared) drafting.note(sharedStock);
  return inStock === '' ? undefined : uncounted;
}
