/** Checks of stored documents against the columns beside them, and of the tags and attributes that rows are found by. */
import { sql } from 'kysely';
import { storedProduct } from '../../resources/products/members/stored.ts';
import type { Product } from '../../resources/products/schema.ts';
import type { ShortForm } from '../../resources/short-form.ts';
import { type IndexedValue, toIndexedValues } from '../../storage/attributes/values.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Session } from '../../storage/database.ts';
import type { Check, Storage } from './check.ts';
import { createLedger } from './ledger.ts';
import { readAttributes, readRowPages, readTagPairs } from './rows.ts';

export function createContentChecks(database: Storage): Check[] {
  return [
    createDocumentsCheck(database),
    ...storedTexts.map(([table, column]) => createTextsCheck(database, table, column)),
    createAmountsCheck(database),
    createTagsCheck(database, 'product_tags'),
    createTagsCheck(database, 'article_tags'),
    createAttributesCheck(database),
  ];
}

interface Row {
  readonly id: number;
  readonly document: string;
  readonly name: string;
  readonly price: number;
  readonly status: string;
  readonly sku: string | null;
  readonly brand: string | null;
}

const columns = ['name', 'price', 'status', 'sku', 'brand'] as const;

/** The members of a product, or undefined when its text cannot be read. */
export const readDocument = (row: { readonly document: string }): Omit<Product, 'id'> | undefined =>
  readMembers(storedProduct, row);

/** The same of anything that is stored so. */
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
            lines.push(`product ${row.id}: its document differs from the columns ${other.join(', ')}`);
          }
        }
      }
      return lines;
    },
  };
}

/** Where JSON is kept as text, but for products. */
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
        for (const { id, text } of rows) if (!isJson(text)) lines.push(`row ${id}: it is not valid JSON`);
      }
      return lines;
    },
  };
}

function isJson(text: string | null): boolean {
  try {
    JSON.parse(text ?? 'null');
    return true;
  } catch {
    return false;
  }
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
        ({ id, total, sum }) => `order ${id}: its total is ${total}, that of its items ${sum}`,
      );
    },
  };
}

/** The tags of a row, as it shows them. */
function buildTagSource(table: 'product_tags' | 'article_tags') {
  return table === 'product_tags'
    ? {
        select: sql<{ id: number; text: string }>`select id, document as text from products`,
        what: 'product',
      }
    : { select: sql<{ id: number; text: string }>`select id, tags as text from articles`, what: 'article' };
}

function parseTags(table: 'product_tags' | 'article_tags', text: string): readonly string[] {
  if (table === 'product_tags') return readDocument({ document: text })?.tags ?? [];
  return parseStored(text);
}

function createTagsCheck(database: Storage, table: 'product_tags' | 'article_tags'): Check {
  const { build } = database;
  const { select, what } = buildTagSource(table);
  const findDiffering = async (session: Session) => {
    const ledger = createLedger();
    for await (const rows of readRowPages(session, build, select)) {
      for (const { id, text } of rows) for (const tag of new Set(parseTags(table, text))) ledger.add(id, tag);
    }
    for await (const rows of readTagPairs(session, build, table)) {
      for (const { tag, owner } of rows) ledger.takeOff(owner, tag);
    }
    return ledger.differing();
  };
  return {
    name: `tags of ${what}s`,
    async find(session) {
      return (await findDiffering(session)).map(id => `${what} ${id} is not found by the tags that it has`);
    },
    async repair(session) {
      const owner = sql.id(`${what}_id`);
      for (const id of await findDiffering(session)) {
        await session.run(sql`delete from ${sql.id(table)} where ${owner} = ${id}`.compile(build));
        const row = await session.first(sql<{ text: string }>`${select} where id = ${id}`.compile(build));
        for (const tag of new Set(row === undefined ? [] : parseTags(table, row.text))) {
          await session.run(
            sql`insert into ${sql.id(table)} (tag, ${owner}) values (${tag}, ${id})`.compile(build),
          );
        }
      }
      createCollectionVersions(database).advance(session, `${what}s`);
    },
  };
}

function createAttributesCheck(database: Storage): Check {
  const { build } = database;
  const toEntry = (key: string, { kind, text, number }: IndexedValue) =>
    JSON.stringify([key, kind, text, number]);
  const select = sql<{ id: number; document: string }>`select id, document from products`;
  const findDiffering = async (session: Session) => {
    const ledger = createLedger();
    for await (const rows of readRowPages(session, build, select)) {
      for (const row of rows)
        for (const [key, value] of Object.entries(readDocument(row)?.attributes ?? {}))
          for (const one of toIndexedValues(value)) ledger.add(row.id, toEntry(key, one));
    }
    for await (const rows of readAttributes(session, build)) {
      for (const { key, text, owner, kind, number } of rows)
        ledger.takeOff(owner, toEntry(key, { kind, text, number }));
    }
    return ledger.differing();
  };
  return {
    name: 'attributes of products',
    async find(session) {
      return (await findDiffering(session)).map(
        id => `product ${id} is not found by the attributes that it has`,
      );
    },
    async repair(session) {
      for (const id of await findDiffering(session)) {
        await session.run(sql`delete from product_attributes where product_id = ${id}`.compile(build));
        const row = await session.first(sql<{ document: string }>`${select} where id = ${id}`.compile(build));
        const attributes = row === undefined ? undefined : readDocument(row)?.attributes;
        const values = Object.entries(attributes ?? {}).flatMap(([key, value]) =>
          toIndexedValues(value).map(({ kind, text, number }) => ({
            key,
            value: text,
            product_id: id,
            kind,
            number,
          })),
        );
        if (values.length > 0)
          await session.run(build.insertInto('product_attributes').values(values).compile());
      }
      createCollectionVersions(database).advance(session, 'products');
    },
  };
}
