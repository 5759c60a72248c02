/** How the tables of sample products are written. */

/** A product as the tables write it: sku, name, price, tags with spaces between them, description. */
type ProductRow = readonly [
  sku: string,
  name: string,
  price: number,
  tags: string,
  description: string,
  status?: 'archived',
];

/** Category → its products. */
export type CategoryRows = Readonly<Record<string, readonly ProductRow[]>>;
