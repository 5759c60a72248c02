/** The schema of orders: representation in JSON and HAL, creation, items, payment and lists. */

import { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas, link } from '../../http/hal/index.ts';
import { listParameters } from '../../http/paginate.ts';
import { count, hasNoneTwice, identifier, idFilter, prose, text, timestamp } from '../../http/schema.ts';
import { maxOptionLengths } from '../products/members/options.ts';
import { maxSkuLength } from '../products/members/shared.ts';

const statuses = ['PENDING', 'PAID', 'CANCELLED'] as const;
const maxQuantity = 10_000;
export const maxItems = 100;

const status = z.enum(statuses);
const quantity = z
  .int()
  .min(1)
  .max(maxQuantity)
  .meta({ examples: [2] });
export const amount = z
  .number()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ examples: [159] });
const currency = z
  .string()
  .meta({ pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3, examples: ['EUR'] })
  .describe('ISO 4217; the same for all items.');

export const orderItem = z
  .object({
    id: identifier(),
    productId: identifier().describe(
      'The product, which may have been deleted since; the item keeps its data.',
    ),
    variantId: identifier()
      .nullable()
      .meta({ examples: [null] })
      .describe('Null if the product has no variants.'),
    name: text(200).meta({ examples: ['Walnut desk lamp'] }),
    sku: text(maxSkuLength)
      .nullable()
      .meta({ examples: ['LAMP-0001'] }),
    options: z
      .record(text(maxOptionLengths.name), text(maxOptionLengths.value))
      .nullable()
      .meta({ examples: [null] })
      .describe('The options of the variant when it was ordered: `{"Size": "M"}`.'),
    quantity,
    unitPrice: amount
      .describe(
        'The price of one piece when it was ordered, in major units; it may have more decimals than amounts of the currency.',
      )
      .meta({ examples: [79.5] }),
    total: amount.describe(
      'quantity × unitPrice, calculated exactly and then rounded once, half up, to the minor unit of the currency.',
    ),
  })
  .meta({ id: 'OrderItem' });

export const orderItemHal = orderItem
  .extend({ _links: buildLinksSchema(['self']) })
  .meta({ id: 'OrderItemHal', example: undefined });

const links = buildLinksSchema(['self', 'items'], ['customer', 'invoices', 'cancel', 'pay']).meta({
  id: 'OrderLinks',
  description:
    'invoices is present once the order is paid, cancel and pay while they are possible; each only if the caller may use it.',
});

/** The representation without links, as in events. */
const bare = z.object({
  id: identifier(),
  status,
  total: amount.describe('The sum of the totals of the items, in major units of the currency.'),
  currency,
  customerId: identifier(),
  items: z.array(orderItem).max(maxItems),
  version: count(1).describe('Incremented with each change.'),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  paidAt: timestamp()
    .nullable()
    .meta({ examples: [null] }),
  cancelledAt: timestamp()
    .nullable()
    .meta({ examples: [null] }),
});

export const order = bare.extend({ _links: links }).meta({ id: 'Order' });

export const orderHal = buildHalSchema(
  bare.omit({ items: true }),
  'OrderHal',
  links,
  z.object({
    customer: z
      .object({
        id: identifier(),
        name: text(200).meta({ examples: ['Ada Winter'] }),
        _links: z.object({ self: link }),
      })
      .optional()
      .describe('Absent if the customer’s account was deleted.'),
    item: z.array(orderItemHal).max(maxItems).describe('The items; the link `items` leads to their list.'),
  }),
);

/** A payment; `clientSecret` lets the customer's browser confirm it, and is never stored. */
const payment = z
  .object({
    provider: z.enum(['manual', 'stripe']),
    status: z.enum(['pending', 'succeeded']),
    reference: prose(255)
      .nullable()
      .describe('The provider’s id of the payment.')
      .meta({ examples: ['pi_3PqXyz'] }),
    clientSecret: prose(500)
      .nullable()
      .describe('Confirms the payment in the customer’s browser; null if there is nothing to confirm.')
      .meta({ examples: ['pi_3PqXyz_secret_aBcD'] }),
  })
  .meta({ id: 'Payment' });

export const paidOrder = order.extend({ payment }).meta({ id: 'OrderWithPayment' });
export const paidOrderHal = orderHal.extend({ payment }).meta({ id: 'OrderWithPaymentHal' });

const toLineKey = (line: { readonly productId: number; readonly variantId?: number | null | undefined }) =>
  `${line.productId} ${line.variantId ?? ''}`;

export const createOrder = z
  .object({
    items: z
      .array(
        z.object({
          productId: identifier(),
          variantId: identifier()
            .nullish()
            .describe('A variant of the product; required if it has any.')
            .meta({ examples: [null] }),
          quantity,
        }),
      )
      .min(1)
      .max(maxItems)
      .refine(items => hasNoneTwice(items.map(toLineKey)), {
        error: 'must not name a product, or a variant, twice; give its quantity once',
        params: { rule: 'uniqueItems' },
      }),
  })
  .meta({ id: 'CreateOrder' });

export const orderPage = buildPageSchemas(order, orderHal, 'orders', 'OrderList', {
  halName: 'OrderHalList',
});
export const itemPage = buildPageSchemas(orderItem, orderItemHal, 'items', 'OrderItemList', {
  halName: 'OrderItemHalList',
});

export const sortColumns = {
  id: 'id',
  createdAt: 'created_at',
  total: 'total',
} as const;

export const listOrders = z.object({
  status: status.optional().describe('Only orders with this status.'),
  ...listParameters(sortColumns),
});
export const listAllOrders = listOrders.extend({
  customerId: idFilter('Only orders of this user.'),
});
export const listItems = z.object(listParameters({ id: 'id' }));

export type Status = (typeof statuses)[number];
export type Order = z.output<typeof bare>;
export type OrderItem = z.output<typeof orderItem>;
export type NewOrder = z.output<typeof createOrder>;
