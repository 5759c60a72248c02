/** A synthetic catalog of N products, the same in every run, written in bulk in the store's own row format. */
import { sql } from 'kysely';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { createProductCategories } from '../../src/resources/categories/assign.ts';
import { type ProductRow, productOf, toProductRow } from '../../src/resources/products/row.ts';
import { completeFields, type ProductFields } from '../../src/resources/products/schema.ts';
import { toSearchText } from '../../src/resources/products/search-text.ts';
import { createTagWriter } from '../../src/resources/products/writes/indexed.ts';
import type { IndexedChange } from '../../src/storage/attributes/rows.ts';
import { createCollectionVersions } from '../../src/storage/changes/versions.ts';
import type { Database, Transaction } from '../../src/storage/database.ts';
import { createSearchIndex, type SearchDocument } from '../../src/storage/search/index.ts';
import { createProductTotals } from '../../src/storage/totals.ts';
import { random } from '../load/random.ts';

export const categories = [
  'art',
  'baby',
  'bags',
  'baking',
  'balcony',
  'bath',
  'bedroom',
  'blankets',
  'books',
  'cameras',
  'camping',
  'candles',
  'cleaning',
  'clocks',
  'curtains',
  'cycling',
  'decoration',
  'dining',
  'garden',
  'fitness',
  'furniture',
  'garage',
  'games',
  'glasses',
  'heating',
  'jewellery',
  'kitchen',
  'laundry',
  'lighting',
  'luggage',
  'mirrors',
  'music',
  'office',
  'outdoor',
  'painting',
  'paper',
  'pets',
  'phones',
  'plants',
  'rugs',
  'sewing',
  'shoes',
  'sports',
  'stationery',
  'storage',
  'textiles',
  'tools',
  'toys',
  'travel',
  'watches',
] as const;

const materials = ['walnut', 'oak', 'steel', 'linen', 'glass', 'cotton', 'copper', 'ceramic'] as const;
const things = [
  'lamp',
  'chair',
  'shelf',
  'bag',
  'clock',
  'table',
  'bottle',
  'frame',
  'cover',
  'stand',
] as const;
const firstDay = Date.UTC(2024, 0, 1);
const minuteMs = 60_000;
/** A statement takes at most 65,535 parameters on PostgreSQL, and 32,766 on SQLite. */
const rowsPerStatement = 1000;
const rowsPerTransaction = 50_000;

export interface MadeProduct {
  readonly fields: ProductFields;
  readonly createdAt: number;
}

/** The product with this number, from 1: 50 categories, prices with cents, one in twenty archived. */
export function productNumber(number: number): MadeProduct {
  const { integer, pick } = random(number * 7919);
  const material = pick(materials);
  const thing = pick(things);
  const fields: ProductFields = completeFields({
    name: `${material} ${thing} ${integer(1, 99_999)}`,
    price: integer(100, 100_000) / 100,
    currency: 'EUR',
    status: integer(1, 20) === 1 ? 'archived' : 'active',
    description: `A ${thing} made of ${material}, model ${integer(1, 999)}, for daily use at home and on the way.`,
    sku: `SKU-${String(number).padStart(8, '0')}`,
    category: pick(categories),
    tags: [material, thing],
  });
  return { fields, createdAt: firstDay + integer(0, 1_000_000) * minuteMs };
}

/** Fills an empty, migrated database; ids are 1 to `count`. */
export async function fill(database: Database, count: number): Promise<void> {
  for (let first = 1; first <= count; first += rowsPerTransaction) {
    await fillFrom(database, first, Math.min(count, first + rowsPerTransaction - 1));
  }
  await database.write(session => createSearchIndex(database).compact(session));
  // Autovacuum would do this within minutes.
  if (database.dialect.name === 'postgresql') {
    const next = sql`select setval(pg_get_serial_sequence('products', 'id'), ${count})`;
    await database.read.all(next.compile(database.build));
    await database.read.all(sql`vacuum analyze`.compile(database.build));
  }
}

/** Creates missing categories. @returns the ids of all categories by their paths */
async function createCategories(
  database: Database,
  session: Transaction,
): Promise<ReadonlyMap<string, number>> {
  const named = categories.map(category => ({ category, categories: [] }));
  const cause = createCause('bench', firstDay);
  const found = await createProductCategories(database, createCommandOutbox(database)).find(
    session,
    named,
    cause,
  );
  return new Map([...found].map(([path, { id }]) => [path, id]));
}

async function fillFrom(database: Database, first: number, last: number): Promise<void> {
  await database.write(async session => {
    createCollectionVersions(database).advance(session, 'products');
    const totals = createProductTotals(database);
    const categoryIds = await createCategories(database, session);
    const index = createSearchIndex(database);
    for (let start = first; start <= last; start += rowsPerStatement) {
      const rows: (ProductRow & { id: number; category_id: number; further_categories: number })[] = [];
      const documents: SearchDocument[] = [];
      const tags: IndexedChange<readonly string[]>[] = [];
      for (let number = start; number < start + rowsPerStatement && number <= last; number++) {
        const { fields, createdAt } = productNumber(number);
        const category = categoryIds.get(fields.category ?? '') ?? 0;
        // Explicit ids, so that a retried transaction writes the same ones.
        rows.push({
          id: number,
          ...toProductRow(fields, createdAt),
          category_id: category,
          further_categories: 0,
        });
        documents.push({ id: number, ...toSearchText(fields) });
        tags.push({ id: number, before: [], after: fields.tags });
        totals.change(session, undefined, { status: fields.status, category_id: category });
      }
      await session.run(database.build.insertInto('products').values(rows).compile());
      await createTagWriter(database)(session, tags);
      await index.addMany(session, 'product', documents);
    }
  });
}

/** The product as the service shows it, which is also the body that the bare servers send. */
export function representation(number: number): string {
  const { fields, createdAt } = productNumber(number);
  const { document } = toProductRow(fields, createdAt);
  return JSON.stringify(productOf({ id: number, document }));
}
