/** The tables of products and what belongs to them: see ../tables.ts. */
import type { Generated } from 'kysely';

export interface ProductTables {
  products: {
    id: Generated<number>;
    name: string;
    price: number;
    status: string;
    /** The main category: see storage/categories/. */
    category_id: number | null;
    /** The number of further categories that it is listed in: rows of product_categories. */
    further_categories: Generated<number>;
    sku: string | null;
    created_at: number;
    updated_at: number;
    /** The representation as JSON text, without the opening `{"id":…,` (see docs/decisions/0002). */
    document: string;
    brand: string | null;
    /** Without leading zeros. */
    gtin: string | null;
    external_id: string | null;
    /** 0 or 1: whether it can be bought. */
    available: number;
    /** The price that a client wrote, for a product whose variants determine `price`; null without variants. */
    base_price: number | null;
    variant_count: Generated<number>;
    /** Of its reviews: the average in the document is computed from the sum and the count. */
    rating_sum: Generated<number>;
    rating_count: Generated<number>;
  };

  /** The variants of a product, each one combination of its options. */
  product_variants: {
    id: Generated<number>;
    product_id: number;
    sku: string | null;
    /** The sku in the form in which searches look for it: only lower-case letters and digits. */
    code: string | null;
    /** Without leading zeros. */
    gtin: string | null;
    /** A digest of its options, unique among the variants of a product. */
    combination: string;
    /** Null for the price of the product. */
    price: number | null;
    /** 0 or 1: whether it is in stock, or its stock is not tracked. */
    available: number;
    position: number;
    created_at: number;
    updated_at: number;
    /** In the same form as a product's document. */
    document: string;
  };

  /** The tags of products, without duplicates. */
  product_tags: {
    tag: string;
    product_id: number;
  };

  /** The number of products per status and category, updated by the transactions that change products. */
  product_totals: {
    status: string;
    /** 0 for products without a category. */
    category_id: number;
    slot: number;
    total: number;
  };

  reviews: {
    id: Generated<number>;
    product_id: number;
    user_id: number;
    author_name: string;
    rating: number;
    body: string | null;
    created_at: number;
    updated_at: number;
  };

  /** The categories of products in addition to their main one, in the order of `position`. */
  product_categories: {
    product_id: number;
    category_id: number;
    position: number;
  };

  /** The tree of categories: see storage/categories/. */
  categories: {
    id: Generated<number>;
    parent_id: number | null;
    name: string;
    slug: string;
    /** The names from the highest category to this one, joined by ` > `. */
    path: string;
    /** 1 for top-level categories. */
    depth: number;
    description: string | null;
    position: number;
    image_id: number | null;
    /** The product that the image belongs to; null for an `image_id` that is older than this column. */
    image_product_id: number | null;
    image_url: string | null;
    created_at: number;
    updated_at: number;
    /** The time when the path last changed; 0 if it never has. */
    path_at: number;
  };

  /** Each value of each attribute of each product: see storage/attributes/values.ts. */
  product_attributes: {
    key: string;
    value: string;
    product_id: number;
    kind: number;
    number: number | null;
  };

  /** Administrators' definitions of attribute keys. */
  attributes: {
    id: Generated<number>;
    key: string;
    label: string;
    type: string;
    created_at: number;
    updated_at: number;
    /** The representation, as in the table of products. */
    document: string;
  };
}
