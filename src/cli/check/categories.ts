/** Checks of the category tree: the paths derived from names and parents, and the products listed in it. */
import { sql } from 'kysely';
import { deepest } from '../../storage/categories/names.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Check, Storage } from './check.ts';

export function createCategoriesCheck(database: Storage): Check {
  const { build } = database;
  const right = sql`coalesce((select path from categories as parents where parents.id = categories.parent_id) || ' > ', '')
    || name`;
  const depth = sql`coalesce((select depth from categories as parents where parents.id = categories.parent_id), 0) + 1`;
  const wrong = sql<{ id: number; path: string }>`select id, path from categories
    where path <> ${right} or depth <> ${depth} order by id`;
  const lost = sql<{ id: number; category: number }>`select id, category_id as category from products
    where category_id is not null and category_id not in (select id from categories) order by id`;
  // Not `in`: if the table is very large, PostgreSQL evaluates it by reading the whole table for each product.
  const isListed = sql`exists (select 1 from product_categories where product_id = products.id)`;
  const miscounted = sql<{ id: number; kept: number; counted: number }>`
    select id, kept, counted from (select id, further_categories as kept, cast((select count(*)
        from product_categories join categories on categories.id = product_categories.category_id
        where product_id = products.id) as integer) as counted
      from products where further_categories > 0 or ${isListed}) as listed
    where kept <> counted order by id`;
  return {
    name: 'categories',
    async find(session) {
      const lines = (await session.all(wrong.compile(build))).map(
        ({ id, path }) => `category ${id}: "${path}" is not the path of its name and parent`,
      );
      for (const { id, category } of await session.all(lost.compile(build)))
        lines.push(`product ${id}: its category ${category} does not exist`);
      for (const { id, kept, counted } of await session.all(miscounted.compile(build)))
        lines.push(`product ${id}: ${kept} further categories kept, ${counted} counted`);
      return lines;
    },
    async repair(session) {
      // From the top down: each round sets the paths of one level.
      for (let level = 1; level <= deepest; level++)
        await session.run(
          sql`update categories set path = ${right}, depth = ${depth}
            where path <> ${right} or depth <> ${depth}`.compile(build),
        );
      await session.run(
        sql`delete from product_categories
          where not exists (select 1 from categories where categories.id = category_id)
            or not exists (select 1 from products where products.id = product_id)`.compile(build),
      );
      await session.run(
        sql`update products set further_categories =
            (select count(*) from product_categories where product_id = products.id)
          where further_categories > 0 or ${isListed}`.compile(build),
      );
      for (const collection of ['categories', 'products'])
        createCollectionVersions(database).advance(session, collection);
    },
  };
}
