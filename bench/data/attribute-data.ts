/** A synthetic catalog whose products have ten attributes each, written as by an import. */
import { sql } from 'kysely';
import { createCause, createCommandOutbox } from '../../src/events/outbox.ts';
import { createProductImporter } from '../../src/resources/products/import/index.ts';
import { createRecordCheck, prepareRecord } from '../../src/resources/products/import/prepared.ts';
import type { Database } from '../../src/storage/database.ts';
import { random } from '../load/random.ts';

const rowsPerTransaction = 2000;

const of = (name: string, values: number): [string, ...string[]] => [
  `${name}-0`,
  ...Array.from({ length: values - 1 }, (_, index) => `${name}-${index + 1}`),
];
export const [brands, categories, colours, materials, series] = [
  of('Brand', 200),
  of('category', 50),
  of('colour', 10),
  of('material', 50),
  of('series', 1000),
];

function record(number: number): Readonly<Record<string, unknown>> {
  const { integer, pick } = random(number * 7919);
  return {
    name: `Thing ${integer(1, 99_999)}`,
    price: integer(100, 100_000) / 100,
    sku: `SKU-${number}`,
    brand: pick(brands),
    category: pick(categories),
    attributes: {
      colour: pick(colours),
      materials: [...new Set([pick(materials), pick(materials)])],
      series: pick(series),
      watt: integer(0, 1000) / 10,
      height: integer(1, 3000),
      organic: integer(0, 1) === 1,
      released: new Date(Date.UTC(2020, 0, integer(1, 2000))).toISOString().slice(0, 10),
      energy: pick(['A', 'B', 'C', 'D', 'E', 'F', 'G']),
      size: pick(['XS', 'S', 'M', 'L', 'XL']),
      origin: pick(of('country', 30)),
    },
  };
}

/** Fills an empty, migrated database. */
export async function fillWithAttributes(database: Database, count: number): Promise<void> {
  const importer = createProductImporter(database, createCommandOutbox(database));
  for (let first = 1; first <= count; first += rowsPerTransaction) {
    const checkRecord = createRecordCheck();
    const records = Array.from({ length: Math.min(rowsPerTransaction, count - first + 1) }, (_, index) => {
      const checked = checkRecord(record(first + index));
      if (!('name' in checked)) throw new Error(JSON.stringify(checked));
      return prepareRecord(checked, 'EUR', Date.UTC(2026, 0, 1) + (first + index) * 1000);
    });
    await database.write(async session => {
      const plan = await importer.plan(session, records, 'lock');
      await importer.apply(session, plan, [], createCause('bench', Date.now()));
    });
  }
  if (database.dialect.name === 'postgresql')
    await database.read.all(sql`vacuum analyze`.compile(database.build));
}
