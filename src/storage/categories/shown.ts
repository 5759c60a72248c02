/**
 * The category paths that a product shows. They are read from the tree with each product, so that renaming or moving a
 * category writes no products (docs/decisions/0030). A stored document begins with the paths at the time when the
 * product was written, on a separate line; the current paths replace them.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../database.ts';

/** What follows the paths. Within a string of the document it would be escaped. */
const newLine = '\n';
/** The same, in documents that are representations instead of lists (docs/decisions/0034). */
const nextMember = ',"name":';

/** Columns of the table `products` as they are shown. */
export interface ShownProduct {
  readonly document: RawBuilder<string>;
  /** When the product or one of its paths was last changed. */
  readonly updated_at: RawBuilder<number>;
}

/** SQL for rows that are read in an order. For rows that are read by id, `buildReadColumns` costs a server less. */
export function buildShownProduct({ json, position }: Pick<Dialect, 'json' | 'position'>): ShownProduct {
  const own = sql`from categories where categories.id = products.category_id`;
  const further = sql`from product_categories
    join categories on categories.id = product_categories.category_id
    where product_categories.product_id = products.id`;
  const path = json(sql`categories.path`);
  const category = sql`coalesce((select ${path} ${own}), 'null')`;
  const categories = sql`case products.further_categories when 0 then '[]' else
    '[' || coalesce((select string_agg(${path}, ',' order by product_categories.position) ${further}), '') || ']' end`;
  const text = sql`products.document`;
  const buildTextFrom = (part: string) => sql`substr(${text}, ${position(text, sql.lit(part))})`;
  const moment = sql`coalesce((select path_at ${own} and path_at > products.updated_at), products.updated_at)`;
  const latest = sql`(select max(moment) from
    (select ${moment} as moment union all select path_at ${further}) as moments)`;
  return {
    document: sql<string>`case substr(${text}, 1, 1)
      when '[' then '[' || ${category} || ',' || ${categories} || ${buildTextFrom(`,${newLine}`)}
      else '"category":' || ${category} || ',"categories":' || ${categories} || ${buildTextFrom(nextMember)} end`,
    updated_at: sql<number>`case products.further_categories when 0 then ${moment} else ${latest} end`,
  };
}

/**
 * The same for rows that the statement locks, in a transaction that shares the tree. A statement that waited for a row
 * may not see its categories yet. The document has their paths, which no rename has changed: the tree is shared.
 */
export function buildLockedProduct(
  dialect: Pick<Dialect, 'json' | 'position' | 'isStaleRead'>,
): ShownProduct {
  const shown = buildShownProduct(dialect);
  const isStaleRead = dialect.isStaleRead?.('products');
  if (isStaleRead === undefined) return shown;
  // `updated_at` is that of the row in either case: the write made it later than the changes of the paths.
  return {
    ...shown,
    document: sql<string>`case when ${isStaleRead} then products.document else ${shown.document} end`,
  };
}

/** A product read by id, with the current paths. */
export interface ReadProduct {
  readonly id: number;
  readonly document: string;
  readonly updated_at: number;
  /** The path of the main category, and when it was last changed. */
  readonly path: string | null;
  readonly path_at: number | null;
  /** The same for the further categories, in their order, as JSON; null without any. */
  readonly further: string | null;
}

/** `products`, with the main category of each. */
export const productsWithPaths = sql`products left join categories on categories.id = products.category_id`;

export function buildReadColumns({ json }: Pick<Dialect, 'json'>): RawBuilder<unknown> {
  const one = sql`'[' || ${json(sql`others.path`)} || ',' || others.path_at || ']'`;
  return sql`products.document, products.updated_at, categories.path, categories.path_at,
    case when products.further_categories > 0 then
      (select '[' || string_agg(${one}, ',' order by product_categories.position) || ']' from product_categories
        join categories as others on others.id = product_categories.category_id
        where product_categories.product_id = products.id) end as further`;
}

// Boundary: the statement has made it.
const parseFurther = (further: string | null) =>
  further === null ? [] : (JSON.parse(further) as [path: string, at: number][]);

/** The current paths of a row of `buildReadColumns`, in place of those in its document. */
export const readPaths = ({ path, further }: Pick<ReadProduct, 'path' | 'further'>) => ({
  category: path,
  categories: parseFurther(further).map(([other]) => other),
});

/** Converts a row of `buildReadColumns` to the product as it is shown. */
export function toShownRow<Row extends ReadProduct>({ path, path_at, further, ...row }: Row) {
  const others = parseFurther(further);
  const { document } = row;
  const [beginning, middle, next] = document.startsWith('[')
    ? ['[', ',', `,${newLine}`]
    : ['"category":', ',"categories":', nextMember];
  const paths = JSON.stringify(others.map(([other]) => other));
  const rest = document.slice(Math.max(0, document.indexOf(next)));
  const moments = [row.updated_at, path_at ?? 0, ...others.map(([, at]) => at)];
  return {
    ...row,
    document: beginning + JSON.stringify(path) + middle + paths + rest,
    updated_at: Math.max(...moments),
  };
}
