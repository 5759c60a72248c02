/**
 * Products refer to their category by id, so that renaming a category writes no products. The categories are made from
 * the texts that products had instead. Documents begin with what is read from the tree: see storage/categories/.
 * Programs that write categories as text would write products without them, so this migration keeps them out.
 */
import { type RawBuilder, sql } from 'kysely';
import {
  containsSeparator,
  deepest,
  joinPath,
  maxNameLength,
  splitPath,
  toSlug,
} from '../categories/names.ts';
import type { Builder, Dialect, Transaction } from '../database.ts';
import type { Migration } from './migration.ts';
import { readSlices, rowsAtOnce } from './product-slices.ts';

export const categoriesOfProducts: Migration = {
  name: '0027-categories-of-products',
  async up(session, { build, dialect }) {
    const { text, integer } = dialect.types;
    const run = (statement: RawBuilder<unknown>) => session.run(statement.compile(build));
    const withoutRowid = dialect.name === 'sqlite' ? sql`without rowid` : sql``;
    await run(sql`alter table products add column category_id ${integer}`);
    await run(sql`alter table products add column further_categories ${integer} not null default 0`);
    await run(sql`create table product_categories (
      product_id ${integer} not null,
      category_id ${integer} not null,
      position ${integer} not null,
      primary key (product_id, category_id)
    ) ${withoutRowid}`);
    await run(
      sql`create index product_categories_by_category on product_categories (category_id, product_id)`,
    );
    await run(sql`create table former_categories (category ${text} primary key, id ${integer} not null)`);
    await createCategories(session, build);
    for await (const last of readSlices(session, build)) await run(buildRewrite(last, dialect));
    await run(sql`drop table former_categories`);
    await run(sql`drop table product_totals`);
    await run(sql`create table product_totals (
      status ${text} not null,
      category_id ${integer} not null,
      slot ${integer} not null,
      total ${integer} not null,
      primary key (category_id, status, slot)
    )`);
    await run(sql`insert into product_totals (status, category_id, slot, total)
      select status, coalesce(category_id, 0), 0, count(*) from products group by 1, 2`);
    for (const suffix of ['', '_price', '_name', '_created_at']) {
      await run(sql`drop index if exists ${sql.ref(`products_by_category${suffix}`)}`);
      const column = suffix === '' ? sql`` : sql`${sql.ref(suffix.slice(1))},`;
      await run(sql`create index ${sql.ref(`products_by_category${suffix}`)}
        on products (category_id, ${column} id, status)`);
    }
    // These indexes have the category, so that a list in their order is filtered by it without reading the table.
    for (const column of ['price', 'name', 'created_at']) {
      const index = sql.ref(`products_by_${column}`);
      await run(sql`drop index if exists ${index}`);
      await run(sql`create index ${index} on products (${sql.ref(column)}, id, status, category_id)`);
    }
    await run(sql`alter table products drop column category`);
  },
};

/** Updates products up to an id: sets the id of their category, and moves what is read from the tree to the front. */
function buildRewrite(last: number, { json }: Dialect): RawBuilder<unknown> {
  const category = sql`coalesce(${json(sql`category`)}, 'null')`;
  return sql`update products set
    category_id = (select id from former_categories where former_categories.category = products.category),
    document = '"category":' || ${category} || ',"categories":[],' || replace(
      replace(document, '"category":' || ${category} || ',"tags":', '"tags":'), ',"categories":[]', '')
    where id > ${last - rowsAtOnce} and id <= ${last}`;
}

/** Creates the categories of all products, and records the id for each former text. */
async function createCategories(session: Transaction, build: Builder): Promise<void> {
  const oldest = sql<{ at: number | null }>`select min(created_at) as at from products`;
  const at = (await session.first(oldest.compile(build)))?.at ?? 0;
  let position = 0;
  for (let after = ''; ; ) {
    const some = sql<{ category: string }>`select distinct category from products
      where category > ${after} order by category limit ${sql.lit(rowsAtOnce)}`;
    const rows = await session.all(some.compile(build));
    for (const { category } of rows) {
      const id = await createPath(session, build, toReadableNames(category), at, () => position++);
      await session.run(
        sql`insert into former_categories (category, id) values (${category}, ${id})`.compile(build),
      );
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.category;
  }
}

/** The names in the path of a category that was free text. */
function toReadableNames(text: string): readonly string[] {
  const names = splitPath(` ${text} `)
    .map(name => [...name].slice(0, maxNameLength).join('').trim())
    .filter(name => name !== '')
    .map(name => (containsSeparator(name) ? name.replaceAll('>', '›') : name));
  if (names.length === 0) return [text.replaceAll('>', '›').trim() || '-'];
  return names.length <= deepest
    ? names
    : [...names.slice(0, deepest - 1), names.slice(deepest - 1).join(' / ')];
}

/** The first of a slug and its numbered variants that is not taken. */
function findFreeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  for (let number = 2; ; number++) if (!isTaken(`${slug}-${number}`)) return `${slug}-${number}`;
}

async function createPath(
  session: Transaction,
  build: Builder,
  names: readonly string[],
  at: number,
  nextPosition: () => number,
): Promise<number> {
  let parent: number | null = null;
  for (const [index, name] of names.entries()) {
    const path = joinPath(names.slice(0, index + 1));
    const found: { id: number } | undefined = await session.first(
      sql<{ id: number }>`select id from categories where path = ${path}`.compile(build),
    );
    if (found !== undefined) {
      parent = found.id;
      continue;
    }
    const slug = toSlug(name);
    const taken = await session.all(
      sql<{ slug: string }>`select slug from categories
        where slug = ${slug} or (slug >= ${`${slug}-`} and slug < ${`${slug}.`})`.compile(build),
    );
    const free = findFreeSlug(slug, one => taken.some(row => row.slug === one));
    parent = await session.insert(
      sql`insert into categories
        (parent_id, name, slug, path, depth, position, created_at, updated_at, path_at)
        values (${parent}, ${name}, ${free}, ${path}, ${index + 1}, ${nextPosition()}, ${at}, ${at}, 0)`.compile(
        build,
      ),
    );
  }
  if (parent === null) throw new Error('a category has no name');
  return parent;
}
