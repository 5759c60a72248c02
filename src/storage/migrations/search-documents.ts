/**
 * The texts of all documents, for migrations that write them to the search index. As the stores write them when these
 * migrations are; later changes of theirs do not change them.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import type { SearchDocument, SearchType, SplitDocument } from '../search/index.ts';
import { textOfHtml } from '../search/text/html.ts';
import { documentWords } from '../search/text/words.ts';

const rowsAtOnce = 1000;

interface Documents {
  readonly type: SearchType;
  readonly documents: readonly SearchDocument[];
}

/** @param products the text of a product, as the tables have it at the time of the migration */
export async function* documentsOf(
  session: Session,
  build: Builder,
  products: RawBuilder<string>,
): AsyncGenerator<Documents> {
  const read = <Row extends { readonly id: number }>(select: RawBuilder<Row>) =>
    rowsOf<Row>(session, build, select);
  for await (const rows of read(sql<OldProduct>`select id, ${products} as document from products`))
    yield { type: 'product', documents: rows.map(productDocument) };
  for await (const rows of read(sql<OldArticle>`select id, title, body, tags from articles`))
    yield { type: 'article', documents: rows.map(articleDocument) };
  for await (const rows of read(sql<SearchDocument>`select id, title, body from posts`))
    yield { type: 'post', documents: rows };
  for await (const rows of read(sql<{ id: number }>`select id from orders`))
    yield { type: 'order', documents: await orderDocuments(session, build, rows) };
  for await (const rows of read(sql<OldUser>`select id, name, email from users`))
    yield { type: 'user', documents: rows.map(({ id, name, email }) => ({ id, title: name, body: email })) };
}

export const splitDocuments = (documents: readonly SearchDocument[]): SplitDocument[] =>
  documents.map(document => ({
    id: document.id,
    words: documentWords(document).join(' '),
    archived: document.archived === true,
  }));

async function* rowsOf<Row extends { readonly id: number }>(
  session: Session,
  build: Builder,
  select: RawBuilder<Row>,
): AsyncGenerator<Row[]> {
  for (let last = 0; ; ) {
    const query = sql<Row>`${select} where id > ${last} order by id limit ${sql.lit(rowsAtOnce)}`;
    const rows = await session.all(query.compile(build));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end.id;
  }
}

interface OldProduct {
  readonly id: number;
  readonly document: string;
}
interface OldUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}
interface OldArticle {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** As JSON text. */
  readonly tags: string;
}

/** Members that documents of this time may lack are those of products made by hand. */
interface OldMembers {
  readonly name: string;
  readonly status: string;
  readonly description?: string | null;
  readonly category?: string | null;
  readonly tags?: readonly string[];
  readonly sku?: string | null;
  readonly brand?: string | null;
  readonly gtin?: string | null;
  readonly mpn?: string | null;
  readonly categories?: readonly string[];
  readonly attributes?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly options?: readonly { readonly values: readonly string[] }[];
}

/** The order of the members in a list; null stands for what a member is by default. */
type OldList = readonly [
  category: string | null,
  categories: readonly string[],
  name: string,
  price: unknown,
  currency: unknown,
  description: string | null,
  sku: string | null,
  tags: readonly string[],
  createdAt: unknown,
  updatedAt?: unknown,
  status?: string | null,
  brand?: string | null,
  images?: unknown,
  gtin?: string | null,
  mpn?: string | null,
  externalId?: unknown,
  attributes?: OldMembers['attributes'] | null,
  stock?: unknown,
  weight?: unknown,
  compareAtPrice?: unknown,
  rating?: unknown,
  options?: OldMembers['options'] | null,
];

/** Of a list (docs/decisions/0034) or of a representation without its beginning. */
function membersOf(document: string): OldMembers {
  // Boundary: the service has written it.
  if (!document.startsWith('[')) return JSON.parse(`{${document}`) as OldMembers;
  const list = JSON.parse(document) as OldList;
  return {
    category: list[0],
    categories: list[1],
    name: list[2],
    description: list[5],
    sku: list[6],
    tags: list[7],
    status: list[10] ?? 'active',
    brand: list[11] ?? null,
    gtin: list[13] ?? null,
    mpn: list[14] ?? null,
    attributes: list[16] ?? {},
    options: list[21] ?? [],
  };
}

function productDocument({ id, document }: OldProduct): SearchDocument {
  const old = membersOf(document);
  const isText = (text: string | null | undefined): text is string => text != null;
  const attributes = Object.values(old.attributes ?? {})
    .flat()
    .filter(value => typeof value !== 'boolean');
  return {
    id,
    title: old.name,
    body: textOfHtml(old.description ?? ''),
    archived: old.status === 'archived',
    fields: {
      codes: [old.sku, old.gtin, old.mpn].filter(isText),
      brand: old.brand ?? null,
      categories: [old.category, ...(old.categories ?? [])].filter(isText),
      attributes: [...attributes.map(String), ...(old.options ?? []).flatMap(({ values }) => values)],
      tags: old.tags ?? [],
    },
  };
}

function articleDocument({ id, title, body, tags }: OldArticle): SearchDocument {
  // Boundary: the store writes a list of strings.
  return { id, title, body: [body, ...(JSON.parse(tags) as string[])].join(' · ') };
}

interface OldItem {
  readonly order_id: number;
  readonly name: string;
  readonly sku: string | null;
}

async function orderDocuments(
  session: Session,
  build: Builder,
  rows: readonly { readonly id: number }[],
): Promise<SearchDocument[]> {
  const ids = sql.join(rows.map(({ id }) => id));
  const query = sql<OldItem>`select order_id, name, sku from order_items where order_id in (${ids}) order by id`;
  const items = Map.groupBy(await session.all(query.compile(build)), ({ order_id }) => order_id);
  return rows.map(({ id }) => {
    const parts = (items.get(id) ?? []).flatMap(({ name, sku }) => (sku === null ? [name] : [name, sku]));
    return { id, title: `Order ${id}`, body: parts.join(' · ') };
  });
}
