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

/** Sku → brand, GTIN, weight and its unit, attributes, what it has cost before. */
export type DetailRows = Readonly<
  Record<
    string,
    readonly [
      brand: string,
      gtin: string,
      weight: number,
      unit: 'g' | 'kg',
      attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>,
      compareAtPrice?: number,
    ]
  >
>;
