/** The endpoints of one article, post, comment or review: read, replace, change, delete. */
import { z } from 'zod';
import type { Cause } from '../../events/outbox.ts';
import type { Access } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { patched } from '../../http/patch/index.ts';
import { noContent } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import type { Presenter } from './index.ts';

export const params = z.object({ id: identifier() });

export interface AuthoredItem<Row, Fields> {
  /** In the singular, for people and operation ids: `article`. */
  readonly name: string;
  /** Below the version's prefix, without the id: `/articles`. */
  readonly path: string;
  readonly tag: string;
  readonly read: Access;
  readonly write: Access;
  /** Who may change it, beyond what `write` says. */
  readonly rule: string;
  readonly representation: z.ZodType;
  readonly hal: z.ZodType;
  /** A complete replacement: every write ends in its fields. */
  readonly replace: z.ZodType<Fields>;
  readonly patch: z.ZodObject;
  readonly replaceExample: unknown;
  readonly patchExample: unknown;
  /** Members of the representation that nobody sets. */
  readonly readOnly: readonly string[];
  readonly presenter: Presenter<Row>;
  readonly store: {
    find(session: Session, id: number): Promise<Row | undefined>;
    lock(session: Session, id: number): Promise<Row | undefined>;
    update(session: Transaction, before: Row, fields: Fields, cause: Cause): Promise<Row>;
    remove(session: Transaction, before: Row, cause: Cause): Promise<void>;
  };
}

export function authoredEndpoints<Row extends { readonly updated_at: number }, Fields>(
  database: Database,
  item: AuthoredItem<Row, Fields>,
): Endpoint[] {
  const { name, tag, store, presenter } = item;
  const path = `${item.path}/{id}`;
  const id = name.slice(0, 1).toUpperCase() + name.slice(1);
  const now = {
    description: `The ${name} as it is now.`,
    schema: item.representation,
    hal: item.hal,
  };
  const writeErrors = ['NOT_FOUND', 'PRECONDITION_FAILED'] as const;

  async function found(row: Promise<Row | undefined>, id: number): Promise<Row> {
    const present = await row;
    if (present === undefined) throw notFound(name, id);
    return present;
  }

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: `get${id}`,
      summary: `Read ${articled(name)}`,
      tag,
      access: item.read,
      params,
      responses: { 200: { ...now, description: `The ${name}.` } },
      errors: ['NOT_FOUND'],
      async handle(context) {
        const { id } = context.params;
        return presenter.shown(context, await found(store.find(database.read, id), id));
      },
    }),
    endpoint({
      method: 'PUT',
      path,
      operationId: `replace${id}`,
      summary: `Replace ${articled(name)}`,
      description: item.rule,
      tag,
      access: item.write,
      params,
      body: { kind: 'json', schema: item.replace, example: item.replaceExample },
      responses: { 200: now },
      errors: writeErrors,
      handle(context) {
        const { params, body, caller, precondition, cause } = context;
        return context.write(async session => {
          const before = await found(store.lock(session, params.id), params.id);
          presenter.requireRight('edit', caller, before);
          precondition(presenter.body(context, before), before.updated_at);
          return presenter.shown(context, await store.update(session, before, body, cause()));
        });
      },
    }),
    endpoint({
      method: 'PATCH',
      path,
      operationId: `patch${id}`,
      summary: `Change fields of ${articled(name)}`,
      description: item.rule,
      tag,
      access: item.write,
      params,
      body: { kind: 'patch', schema: item.patch, example: item.patchExample },
      responses: { 200: now },
      errors: writeErrors,
      handle(context) {
        const { params, body, caller, precondition, cause } = context;
        return context.write(async session => {
          const before = await found(store.lock(session, params.id), params.id);
          presenter.requireRight('edit', caller, before);
          precondition(presenter.body(context, before), before.updated_at);
          const fields = patched(presenter.plain(context, before), body, item.replace, item.readOnly);
          return presenter.shown(context, await store.update(session, before, fields, cause()));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path,
      operationId: `delete${id}`,
      summary: `Delete ${articled(name)}`,
      description: item.rule,
      tag,
      access: item.write,
      params,
      // HAL is offered though nothing is answered: If-Match may name the tag of what a GET has shown as HAL.
      responses: { 204: { description: `The ${name} is gone.`, hal: item.hal } },
      errors: writeErrors,
      handle(context) {
        const { params, caller, precondition, cause } = context;
        return context.write(async session => {
          const before = await found(store.lock(session, params.id), params.id);
          presenter.requireRight('remove', caller, before);
          precondition(presenter.body(context, before), before.updated_at);
          await store.remove(session, before, cause());
          return noContent();
        });
      },
    }),
  ];
}

function articled(name: string): string {
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}
