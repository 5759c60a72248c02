/** The searched texts of articles, orders and users: their stores write them to the index, and hits show them. */
import { parseStored } from '../../storage/damage.ts';
import type { SearchText } from '../../storage/search/text/words.ts';
import type { Row } from '../../storage/tables.ts';

export type Article = Pick<Row<'articles'>, 'id' | 'title' | 'body' | 'tags'>;

/** The searched members of an item of an order. */
export type Item = Pick<Row<'order_items'>, 'name' | 'sku'>;

export type User = Pick<Row<'users'>, 'id' | 'name' | 'email'>;

export function toArticleText({ title, body, tags }: Pick<Article, 'title' | 'body' | 'tags'>): SearchText {
  const fields = {
    codes: [],
    brand: null,
    categories: [],
    attributes: [],
    tags: parseStored<string[]>(tags),
  };
  return { title, body, fields };
}

/** The number of an order and its items, without the customer: an order refers to the customer only by id. */
export function toOrderText({ id }: { readonly id: number }, items: readonly Item[]): SearchText {
  const parts = items.flatMap(({ name, sku }) => (sku === null ? [name] : [name, sku]));
  return { title: `Order ${id}`, body: parts.join(' · ') };
}

export function toUserText({ name, email }: Pick<User, 'name' | 'email'>): SearchText {
  return { title: name, body: email };
}
