/** Checks of stock: the reserved quantities of products and variants against those of the items of open orders. */
import { sql } from 'kysely';
import type { Stock } from '../../resources/products/members/stock.ts';
import { storedProduct } from '../../resources/products/members/stored.ts';
import * as ofProducts from '../../resources/products/row.ts';
import * as ofVariants from '../../resources/variants/row.ts';
import { storedVariant } from '../../resources/variants/stored.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Session } from '../../storage/database.ts';
import { type Check, readRowPages, type Storage } from './check.ts';
import { readMembers } from './content.ts';

/** The columns of a product or variant that this check needs. */
type Row = Pick<ofProducts.LockedProduct, 'id' | 'document' | 'updated_at' | 'base_price'>;

type Stocked = { readonly stock: Stock | null };

/** Where stock is kept: on products without variants, and on variants. */
const keepers = [
  {
    name: 'product',
    table: 'products',
    collection: ofProducts.products.name,
    select: sql<Row>`select id, document, updated_at, base_price from products`,
    held: sql`product_id as id from order_items where variant_id is null`,
    stored: storedProduct,
    rewritten(row: Row, reserved: number, at: number) {
      const product = ofProducts.productOf(row);
      const kept = ofProducts.toKeptProduct(product);
      const fields = ofProducts.toProductFields(product, row.base_price);
      return ofProducts.toProductRow(fields, at, { ...kept, stock: { ...kept.stock, reserved } });
    },
  },
  {
    name: 'variant',
    table: 'product_variants',
    collection: ofVariants.variants.name,
    select: sql<Row>`select id, document, updated_at, null as base_price from product_variants`,
    held: sql`variant_id as id from order_items where variant_id is not null`,
    stored: storedVariant,
    rewritten(row: Row, reserved: number, at: number) {
      const variant = ofVariants.variantOf(row);
      const kept = ofVariants.toKeptVariant(variant);
      const stock = { ...kept.stock, reserved };
      return ofVariants.toVariantRow(ofVariants.toVariantFields(variant), at, { ...kept, stock });
    },
  },
] as const;

/** Only open orders reserve stock: that of other orders has been released or deducted. */
export function createReservationsCheck(database: Storage): Check {
  const { build } = database;
  const ended = sql<{ id: number; status: string; reserved: number }>`select orders.id, status,
      cast(sum(reserved) as integer) as reserved
    from order_items join orders on orders.id = order_items.order_id
    where reserved > 0 and status <> 'PENDING' group by orders.id, status order by orders.id`;

  /** Yields rows whose reserved stock differs from that of open orders, with both quantities. */
  async function* findWrong(session: Session, { held, select, stored }: (typeof keepers)[number]) {
    const query = sql<{
      id: number;
      reserved: number;
    }>`select held.id, cast(sum(reserved) as integer) as reserved
      from (select order_id, reserved, ${held} and reserved > 0) as held
      join orders on orders.id = order_id where status = 'PENDING' group by held.id`;
    const rows = await session.all(query.compile(build));
    const byId = new Map(rows.map(({ id, reserved }) => [id, reserved]));
    for await (const page of readRowPages(session, build, select)) {
      for (const row of page) {
        // Most rows have no stock: their documents need not be parsed.
        if (!row.document.includes('"onHand":')) continue;
        const kept = readMembers<Stocked>(stored, row)?.stock?.reserved;
        const reserved = byId.get(row.id) ?? 0;
        if (kept !== undefined && kept !== reserved) yield { row, kept, reserved };
      }
    }
  }

  return {
    name: 'reserved stock',
    async find(session) {
      const lines = (await session.all(ended.compile(build))).map(
        ({ id, status, reserved }) => `order ${id}: it is ${status}, but has ${reserved} reserved`,
      );
      for (const keeper of keepers) {
        for await (const { row, kept, reserved } of findWrong(session, keeper))
          lines.push(`${keeper.name} ${row.id}: ${kept} reserved, ${reserved} of them by open orders`);
      }
      return lines;
    },
    async repair(session, now) {
      await session.run(
        sql`update order_items set reserved = 0 where reserved > 0
          and order_id in (select id from orders where status <> 'PENDING')`.compile(build),
      );
      for (const keeper of keepers) {
        for await (const { row, reserved } of findWrong(session, keeper)) {
          const at = Math.max(now, row.updated_at);
          const { document, available } = keeper.rewritten(row, reserved, at);
          const values = { document, available, updated_at: at };
          await session.run(build.updateTable(keeper.table).set(values).where('id', '=', row.id).compile());
        }
        createCollectionVersions(database).advance(session, keeper.collection);
      }
    },
  };
}
