/** The tables of orders, payments, invoices and stock: see ../tables.ts. */
import type { Generated } from 'kysely';

export interface OrderTables {
  /** Amounts are whole minor units of the currency. */
  orders: {
    id: Generated<number>;
    customer_id: number;
    customer_name: string;
    customer_email: string;
    status: string;
    currency: string;
    total: number;
    version: number;
    created_at: number;
    updated_at: number;
    paid_at: number | null;
    cancelled_at: number | null;
  };

  order_items: {
    id: Generated<number>;
    order_id: number;
    product_id: number;
    name: string;
    sku: string | null;
    variant_id: number | null;
    /** The options of the variant, as JSON text. */
    options: string | null;
    quantity: number;
    /** In whole minor units; rounded if `exact_price` is not null. */
    unit_price: number;
    /** The unit price in major units, as a JSON number, if it is not a whole number of minor units. */
    exact_price: string | null;
    total: number;
    /** The quantity reserved in stock; 0 once the order is paid or cancelled. */
    reserved: Generated<number>;
  };

  /** Manual changes of stock, with the resulting stock. */
  stock_adjustments: {
    id: Generated<number>;
    product_id: number;
    variant_id: number | null;
    sku: string | null;
    delta: number;
    reason: string;
    on_hand: number;
    reserved: number;
    actor: string;
    created_at: number;
  };

  payments: {
    id: Generated<number>;
    order_id: number;
    provider: string;
    /** The provider's identifier of the payment. */
    reference: string | null;
    status: string;
    created_at: number;
    updated_at: number;
  };

  invoices: {
    id: Generated<number>;
    number: number;
    order_id: number;
    customer_id: number;
    /** The content of the invoice, as JSON text. */
    document: string;
    sent_at: number | null;
    version: number;
    created_at: number;
    updated_at: number;
  };
}
