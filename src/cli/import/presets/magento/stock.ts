/** Reads the stock of a product of Magento. */
import { outOfStock, readPiecesCell, uncounted } from '../cells.ts';
import type { Drafting, Row, Stock, Uncounted } from '../preset.ts';

/** Types whose products Magento sells from the stock of the products in them: their own quantity is always 0. */
const isComposite = (row: Row): boolean => /^(?:bundle|grouped)$/i.test(row.text('type'));

export function readManagedStock(row: Row, drafting: Drafting): Stock | Uncounted | undefined {
  const isOut = row.text('isInStock') === '0';
  if (isComposite(row)) {
    if (row.text('isInStock') === '' && row.text('quantity') === '') return undefined;
    return isOut ? outOfStock : uncounted;
  }
  const isManaged = row.text('configManage') === '1' || row.text('manageStock') !== '0';
  const pieces = readPiecesCell(row, 'quantity', drafting, isOut);
  if (!isManaged) return uncounted;
  if (pieces === undefined) return undefined;
  const allowsBackorders = row.text('configBackorders') !== '1' && Number(row.text('backorders')) > 0;
  // Magento does not sell what is out of stock, even if backorders are allowed.
  return { tracked: true, onHand: pieces, backorder: allowsBackorders && !isOut };
}
