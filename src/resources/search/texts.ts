/** The searched texts of articles, orders and users: their stores write them to the index, and hits show them. */
import { parseStored } from '../../storage/damage.ts';
import type { SearchText } from '../../storage/search/text/words.ts';

export interface Article {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** As JSON text. */
  readonly tags: string;
}

/** The searched members of an item of an order. */
export interface Item {
  readonly name: string;
  readonly sku: string | null;
}

export interface User {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

export function toArticleText({ title, body, tags }: Pick<Article, 'title' | 'body' | 'tags'>): SearchText {
  return { title, body: [body, ...parseStored<string[]>(tags)].join(' · ') };
}

/** The number of an order and its items, without the customer: an order refers to the customer only by id. */
export function toOrderText({ id }: { readonly id: number }, items: readonly Item[]): SearchText {
  const parts = items.flatMap(({ name, sku }) => (sku === null ? [name] : [name, sku]));
  return { title: `Order ${id}`, body: parts.join(' · ') };
}

export function toUserText({ name, email }: Pick<User, 'name' | 'email'>): SearchText {
  return { title: name, body: email };
}
