/** What is searched of articles, orders and users: their stores tell the index, and hits show it. */
import type { SearchText } from '../../storage/search-words.ts';

export interface Article {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** As JSON text. */
  readonly tags: string;
}

export interface Order {
  readonly id: number;
  readonly customer_name: string;
  readonly customer_email: string;
}

export interface User {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

export function articleText({ title, body, tags }: Pick<Article, 'title' | 'body' | 'tags'>): SearchText {
  // Boundary: the store writes a list of strings.
  return { title, body: [body, ...(JSON.parse(tags) as string[])].join(' · ') };
}

/** An order's number, and whose it is. */
export function orderText({ id, customer_name, customer_email }: Order): SearchText {
  return { title: `Order ${id}`, body: `${customer_name} · ${customer_email}` };
}

export function userText({ name, email }: Pick<User, 'name' | 'email'>): SearchText {
  return { title: name, body: email };
}
