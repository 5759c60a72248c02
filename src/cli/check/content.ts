/** Checks of stored documents against their columns, and of the tables that index rows by tags and attributes. */
import { type RawBuilder, sql } from 'kysely';
import { tryParseJson } from '../../json-object.ts';
import { storedProduct } from '../../resources/products/members/stored.ts';
import type { Product } from '../../resources/products/schema.ts';
import type { ShortForm } from '../../resources/short-form.ts';
import { collectFilterValues, toIndexedValues } from '../../storage/attributes/values.ts';
import { type ColumnTypes, createBulkDelete, createBulkInsert } from '../../storage/bulk.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Session } from '../../storage/database.ts';
import type { Row as TableRow } from '../../storage/tables.ts';
import { type Check, formatColumns, readRowPages, readTable, type Storage } from './check.ts';
import { createLedger } from './ledger.ts';

export function createContentChecks(database: Storage): Check[] {
  return [
    createDocumentsCheck(database),
    ...storedTexts.map(([table, column]) => createTextsCheck(database, table, column)),
    createAmountsCheck(database),
    ...lookups.map(lookup => createFoundByCheck(database, lookup)),
  ];
}

const columns = ['name', 'price', 'status', 'sku', 'brand'] as const;

type Row = Pick<TableRow<'products'>, 'id' | 'document' | (typeof columns)[number]>;

/** The members of a product, or undefined when its stored document cannot be read. */
export const readDocument = (row: { readonly document: string }): Omit<Product, 'id'> | undefined =>
  readMembers(storedProduct, row);

/** Like readDocument, for any representation that is stored as a short form. */
export function readMembers<Members>(
  { membersOf }: Pick<ShortForm<Members>, 'membersOf'>,
  { document }: { readonly document: string },
): Members | undefined {
  try {
    return membersOf(document);
  } catch {
    return undefined;
  }
}

function createDocumentsCheck({ build }: Storage): Check {
  const select = sql<Row>`select id, document, name, price, status, sku, brand from products`;
  return {
    name: 'documents of products',
    async find(session) {
      const lines: string[] = [];
      for await (const rows of readRowPages(session, build, select)) {
        for (const row of rows) {
          const document = readDocument(row);
          const other = columns.filter(column => document?.[column] !== row[column]);
          if (document === undefined) lines.push(`product ${row.id}: its document is not valid JSON`);
          else if (other.length > 0) {
            lines.push(`product ${row.id}: its document differs from the ${formatColumns(other)}`);
          }
        }
      }
      return lines;
    },
  };
}

/** The columns that hold JSON as text, except those of products and variants. */
const storedTexts = [
  ['users', 'tags'],
  ['articles', 'tags'],
  ['api_keys', 'scopes'],
  ['invoices', 'document'],
  ['events', 'old_document'],
  ['events', 'new_document'],
] as const;

function createTextsCheck({ build }: Storage, table: string, column: string): Check {
  const select = sql<{ id: number; text: string | null }>`select id, ${sql.id(column)} as text
    from ${sql.id(table)}`;
  return {
    name: `column ${column} of ${table}`,
    async find(session) {
      const lines: string[] = [];
      for await (const rows of readRowPages(session, build, select)) {
        for (const { id, text } of rows)
          if (tryParseJson(text ?? 'null') === undefined) lines.push(`row ${id}: it is not valid JSON`);
      }
      return lines;
    },
  };
}

function createAmountsCheck({ build }: Storage): Check {
  const wrong = sql<{ id: number; total: number; sum: number }>`select orders.id, orders.total,
      coalesce(sum(order_items.total), 0) as sum
    from orders left join order_items on order_items.order_id = orders.id
    group by orders.id, orders.total having orders.total <> coalesce(sum(order_items.total), 0) order by orders.id`;
  return {
    name: 'totals of orders',
    async find(session) {
      return (await session.all(wrong.compile(build))).map(
        ({ id, total, sum }) => `order ${id}: its total is ${total}, but its items add up to ${sum}`,
      );
    },
  };
}

interface Owner {
  readonly id: number;
  /** The JSON that the rows are derived from. */
  readonly text: string;
}

type Entry = Readonly<Record<string, unknown>>;

/** A lookup table for the rows of another table. */
interface Lookup {
  readonly table: 'product_tags' | 'product_attributes' | 'article_tags';
  readonly what: 'tags' | 'attributes';
  readonly owner: 'product' | 'article';
  /** The columns of the primary key, in order. */
  readonly key: ColumnTypes;
  readonly others?: ColumnTypes;
  readonly owners: RawBuilder<Owner>;
  /** The rows that an owner should have, without duplicates. */
  deriveEntries(owner: Owner): readonly Entry[];
}

const products = sql<Owner>`select id, document as text from products`;
const readProduct = ({ text }: Owner) => readDocument({ document: text });

const lookups: readonly Lookup[] = [
  {
    table: 'product_tags',
    what: 'tags',
    owner: 'product',
    key: { tag: 'text', product_id: 'integer' },
    owners: products,
    deriveEntries: owner =>
      [...new Set(readProduct(owner)?.tags)].map(tag => ({ tag, product_id: owner.id })),
  },
  {
    table: 'article_tags',
    what: 'tags',
    owner: 'article',
    key: { tag: 'text', article_id: 'integer' },
    owners: sql<Owner>`select id, tags as text from articles`,
    deriveEntries: ({ id, text }) =>
      [...new Set(parseStored<string[]>(text))].map(tag => ({ tag, article_id: id })),
  },
  {
    table: 'product_attributes',
    what: 'attributes',
    owner: 'product',
    key: { key: 'text', value: 'text', product_id: 'integer' },
    others: { kind: 'integer', number: 'double precision' },
    owners: products,
    deriveEntries: owner =>
      Object.entries(collectFilterValues(readProduct(owner) ?? {})).flatMap(([key, value]) =>
        toIndexedValues(value).map(({ kind, text, number }) => ({
          key,
          value: text,
          product_id: owner.id,
          kind,
          number,
        })),
      ),
  },
];

function createFoundByCheck(database: Storage, lookup: Lookup): Check {
  const { build } = database;
  const { table, what, owner, key, others = {}, owners, deriveEntries } = lookup;
  const [keyNames, names] = [Object.keys(key), Object.keys({ ...key, ...others })];
  const getOwnerId = (entry: Entry) => Number(entry[`${owner}_id`]);
  const listValues = (entry: Entry, columns = names) => columns.map(name => entry[name]);
  const toText = (entry: Entry) => JSON.stringify(listValues(entry));
  const readEntries = (session: Session) => readTable<Entry>(session, build, { table, key: keyNames });

  const findDiffering = async (session: Session) => {
    const ledger = createLedger();
    for await (const rows of readRowPages(session, build, owners))
      for (const row of rows) for (const entry of deriveEntries(row)) ledger.add(row.id, toText(entry));
    for await (const entries of readEntries(session))
      for (const entry of entries) ledger.takeOff(getOwnerId(entry), toText(entry));
    return ledger.differing();
  };

  return {
    name: `${what} of ${owner}s`,
    async find(session) {
      return (await findDiffering(session)).map(id => `${owner} ${id} cannot be found by its ${what}`);
    },
    // Reads each table once, however many owners differ: the tables of products have no index by product.
    async repair(session) {
      const differing = new Set(await findDiffering(session));
      const removed = createBulkDelete(database, table, key);
      const added = createBulkInsert(database, table, { ...key, ...others });
      for await (const entries of readEntries(session)) {
        const gone = entries.filter(entry => differing.has(getOwnerId(entry)));
        await session.writeMany(
          removed,
          gone.map(entry => listValues(entry, keyNames)),
        );
      }
      for await (const rows of readRowPages(session, build, owners)) {
        const fresh = rows.filter(({ id }) => differing.has(id)).flatMap(deriveEntries);
        await session.writeMany(
          added,
          fresh.map(entry => listValues(entry)),
        );
      }
      createCollectionVersions(database).advance(session, `${owner}s`);
    },
  };
}
