/** The columns of the tables of products' attributes. */
import type { Generated } from 'kysely';

/** Each value of each attribute of each product: see storage/attributes/values.ts. */
export interface ProductAttributesTable {
  key: string;
  value: string;
  product_id: number;
  kind: number;
  number: number | null;
}

/** Administrators' definitions of attribute keys. */
export interface AttributesTable {
  id: Generated<number>;
  key: string;
  label: string;
  type: string;
  created_at: number;
  updated_at: number;
  /** The representation, as in the table of products. */
  document: string;
}
