/**
 * The texts of all documents, for migrations that write them to the search index: as the stores wrote them when these
 * migrations were written. Later changes of the stores do not affect this file.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import type { SearchDocument, SearchType } from '../search/index.ts';
import { toPlainText } from '../search/text/html.ts';

/** Rows that a transaction holds for some fifty milliseconds. */
const rowsAtOnce = 500;

export interface DocumentSource {
  readonly type: SearchType;
  /** Some documents after `last`, in the order of ids; none at the end. */
  read(session: Session, last: SearchDocument | undefined): Promise<OldDocument[]>;
}

export interface OldDocument extends SearchDocument {
  /** The same with the markup of its texts; only of products. */
  readonly marked?: SearchDocument;
}

/**
 * @param products the text of a product, as the tables have it at the time of the migration
 * @param ending the end of each SELECT: `forUpdate` if other processes write at the same time
 */
export function createDocumentSources(
  build: Builder,
  products: RawBuilder<string>,
  ending: RawBuilder<unknown> = sql``,
): readonly DocumentSource[] {
  const createSource = <Row>(
    type: SearchType,
    select: RawBuilder<Row>,
    documentsOf: (rows: Row[], session: Session) => OldDocument[] | Promise<OldDocument[]>,
  ): DocumentSource => ({
    type,
    async read(session, last) {
      const query = sql<Row>`${select} where id > ${last?.id ?? 0} order by id limit ${sql.lit(rowsAtOnce)} ${ending}`;
      return documentsOf(await session.all(query.compile(build)), session);
    },
  });
  return [
    createSource('product', sql<OldProduct>`select id, ${products} as document from products`, rows =>
      rows.map(toProductDocument),
    ),
    createSource('article', sql<OldArticle>`select id, title, body, tags from articles`, rows =>
      rows.map(toArticleDocument),
    ),
    createSource('post', sql<SearchDocument>`select id, title, body from posts`, rows => rows),
    createSource('order', sql<{ id: number }>`select id from orders`, (rows, session) =>
      readOrderDocuments(session, build, rows),
    ),
    createSource('user', sql<OldUser>`select id, name, email from users`, rows => rows.map(toUserDocument)),
  ];
}

interface OldProduct {
  readonly id: number;
  readonly document: string;
}
export interface OldUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}
export interface OldArticle {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** As JSON text. */
  readonly tags: string;
}

/** The optional members are those that products inserted by hand may lack. */
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

/** The order of the members in a list; null stands for the default of a member. */
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

/** Parses a document: a list (docs/decisions/0034), or a representation without its opening brace. */
function parseMembers(document: string): OldMembers {
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

function toProductDocument({ id, document }: OldProduct): OldDocument {
  const old = parseMembers(document);
  const isText = (text: string | null | undefined): text is string => text != null;
  const attributes = Object.values(old.attributes ?? {})
    .flat()
    .filter(value => typeof value !== 'boolean');
  const toDocument = (toText: (text: string) => string): SearchDocument => ({
    id,
    title: old.name,
    body: toText(old.description ?? ''),
    archived: old.status === 'archived',
    fields: {
      codes: [old.sku, old.gtin, old.mpn].filter(isText),
      brand: old.brand ?? null,
      categories: [old.category, ...(old.categories ?? [])].filter(isText),
      attributes: [
        ...attributes.map(value => toText(String(value))),
        ...(old.options ?? []).flatMap(({ values }) => values),
      ],
      tags: old.tags ?? [],
    },
  });
  return { ...toDocument(toPlainText), marked: toDocument(text => text) };
}

export const toUserDocument = ({ id, name, email }: OldUser): SearchDocument => ({
  id,
  title: name,
  body: email,
});

const noFields = { codes: [], brand: null, categories: [], attributes: [] } as const;

export function toArticleDocument({ id, title, body, tags }: OldArticle): SearchDocument {
  // Boundary: the store writes a list of strings.
  const fields = { ...noFields, tags: JSON.parse(tags) as string[] };
  return { id, title, body, fields };
}

interface OldItem {
  readonly order_id: number;
  readonly name: string;
  readonly sku: string | null;
}

async function readOrderDocuments(
  session: Session,
  build: Builder,
  rows: readonly { readonly id: number }[],
): Promise<SearchDocument[]> {
  if (rows.length === 0) return [];
  const ids = sql.join(rows.map(({ id }) => id));
  const query = sql<OldItem>`select order_id, name, sku from order_items where order_id in (${ids}) order by id`;
  const items = Map.groupBy(await session.all(query.compile(build)), ({ order_id }) => order_id);
  return rows.map(({ id }) => {
    const parts = (items.get(id) ?? []).flatMap(({ name, sku }) => (sku === null ? [name] : [name, sku]));
    return { id, title: `Order ${id}`, body: parts.join(' · ') };
  });
}
