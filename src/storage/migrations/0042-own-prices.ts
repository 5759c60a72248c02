/**
 * Products with variants show their own price. Programs that do not write it into the document would leave it out.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Rows of products that are locked together: a replica of the previous release that changes one of them waits. */
const rowsAtOnce = 500;

interface Stored {
  readonly id: number;
  readonly document: string;
  readonly base_price: number;
}

export const ownPrices: Migration = {
  name: '0042-own-prices',
  async prepare(database) {
    const { build, dialect } = database;
    let last: number | undefined = 0;
    while (last !== undefined) {
      const query: RawBuilder<Stored> = sql`select id, document, base_price from products
        where id > ${last} and variant_count > 0 and base_price is not null order by id limit ${sql.lit(rowsAtOnce)}
        ${dialect.forUpdate}`;
      last = await database.exclusively<number | undefined>(async session => {
        const products = await session.all(query.compile(build));
        for (const { id, document, base_price: price } of products) {
          const values = { document: addPrice(document, price) };
          await session.run(build.updateTable('products').set(values).where('id', '=', id).compile());
        }
        return products.at(-1)?.id;
      });
    }
  },
  async up() {},
};

/** The place of the price in a document that is a list, not a representation; the first two are on a line of their own. */
const [priceAt, onFirstLine] = [25, 2] as const;

function addPrice(document: string, price: number): string {
  // Boundary: the service has written the document.
  if (!document.startsWith('['))
    return JSON.stringify({ ...(JSON.parse(`{${document}`) as object), basePrice: price }).slice(1);
  const list = JSON.parse(document) as unknown[];
  const all = Array.from({ length: priceAt + 1 }, (_, index) =>
    index === priceAt ? price : (list[index] ?? null),
  );
  const first = JSON.stringify(all.slice(0, onFirstLine)).slice(0, -1);
  return `${first},\n${JSON.stringify(all.slice(onFirstLine)).slice(1)}`;
}
