/** The types of the tables of sample products. */

/** A product in these tables; its tags are separated by spaces. */
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

/** Sku → brand, GTIN, weight and its unit, attributes, former price. */
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
