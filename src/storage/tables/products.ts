/** The tables of products and what belongs to them: see ../tables.ts. */
import type { Generated } from 'kysely';

export interface ProductsTable {
  id: Generated<number>;
  name: string;
  price: number;
  status: string;
  /** The main one: see storage/categories/. */
  category_id: number | null;
  /** How many it is listed in besides: rows of product_categories. */
  further_categories: Generated<number>;
  sku: string | null;
  created_at: number;
  updated_at: number;
  /** The representation as JSON text, without the opening `{"id":…,` (see docs/decisions/0002). */
  document: string;
  brand: string | null;
  /** Without the zeros it begins with. */
  gtin: string | null;
  external_id: string | null;
  /** 0 or 1: whether it can be bought now. */
  available: number;
  /** What a client has written as its price, where variants decide which price it has; null without variants. */
  base_price: number | null;
  variant_count: Generated<number>;
  /** Of its reviews: what the average in the document is made of. */
  rating_sum: Generated<number>;
  rating_count: Generated<number>;
}

/** What is sold of a product, in one combination of its options each. */
export interface VariantsTable {
  id: Generated<number>;
  product_id: number;
  sku: string | null;
  /** Its sku as it is searched for: small letters and digits, nothing between them. */
  code: string | null;
  /** Without the zeros it begins with. */
  gtin: string | null;
  /** A digest of its options: no two variants of a product have the same. */
  combination: string;
  /** Null where the product's own price holds. */
  price: number | null;
  /** 0 or 1: whether it is in stock, or needs none. */
  available: number;
  position: number;
  created_at: number;
  updated_at: number;
  /** As a product's. */
  document: string;
}

/** Each tag of each product once. */
export interface ProductTagsTable {
  tag: string;
  product_id: number;
}

/** How many products there are per status and category, kept by the transactions that change them. */
export interface ProductTotalsTable {
  status: string;
  /** 0 for those that have none. */
  category_id: number;
  slot: number;
  total: number;
}

export interface ReviewsTable {
  id: Generated<number>;
  product_id: number;
  user_id: number;
  author_name: string;
  rating: number;
  body: string | null;
  created_at: number;
  updated_at: number;
}

/** The categories that products are listed in besides their main one, in the order of `position`. */
export interface ProductCategoriesTable {
  product_id: number;
  category_id: number;
  position: number;
}

/** The tree that products are listed in: see storage/categories/. */
export interface CategoriesTable {
  id: Generated<number>;
  parent_id: number | null;
  name: string;
  slug: string;
  /** The names from the highest category to this one, joined by ` > `. */
  path: string;
  /** 1 for those that are below no other. */
  depth: number;
  description: string | null;
  position: number;
  image_id: number | null;
  /** Whose image it is; null with an id from before this was kept. */
  image_product_id: number | null;
  image_url: string | null;
  created_at: number;
  updated_at: number;
  /** When its path was last changed; 0 while it is the first. */
  path_at: number;
}
