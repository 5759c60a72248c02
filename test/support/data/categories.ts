/** Requests for categories. */
import { expect } from 'bun:test';
import { call } from '../http/http.ts';
import type { TestService } from '../service/service.ts';

export const path = '/v1/categories';
export const fresh = () => crypto.randomUUID().slice(0, 8);

export interface Category {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly path: string;
  readonly parentId: number | null;
  readonly position: number;
}

/** @param at returns the service, which exists once the first test runs */
export function categoryCalls(at: () => TestService) {
  async function add(name: string, fields: object = {}): Promise<Category> {
    const body = { name, ...fields };
    const made = await call(at(), { method: 'POST', path, as: 'editor', body });
    if (made.status !== 201) throw new Error(`POST ${path} answered ${made.status}: ${made.text}`);
    return made.body;
  }
  const change = (id: number, body: object, as: 'editor' | 'user' = 'editor') =>
    call(at(), { method: 'PATCH', path: `${path}/${id}`, as, body });
  const read = async (id: number) => (await call(at(), { path: `${path}/${id}`, as: 'user' })).body;
  const listed = async (query: string) =>
    (await call(at(), { path: `${path}?${query}`, as: 'user' })).body.data as Category[];
  /** Creates a chain of categories, each below the previous one. */
  async function chain(levels: number): Promise<Category[]> {
    const made: Category[] = [];
    for (let level = 1; level <= levels; level++)
      made.push(await add(`${fresh()} ${level}`, { parentId: made.at(-1)?.id ?? null }));
    return made;
  }
  return { add, change, read, listed, chain };
}

/** Successful requests of an administrator. @param at returns the service, which exists once the first test runs */
export function adminCalls(at: () => TestService) {
  async function send(method: string, path: string, body?: object) {
    const sent = body === undefined ? {} : { body };
    const response = await call(at(), { method, path, as: 'admin', ...sent });
    expect(response.status).toBeLessThan(300);
    return response.body;
  }
  const findId = async (path: string): Promise<number> =>
    (await send('GET', `/v1/categories?${new URLSearchParams({ path })}`)).data[0].id;
  return { send, findId };
}
