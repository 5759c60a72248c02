/** What articles and posts have in common over HTTP: texts of the shop, in a collection of their own. */
import type { z } from 'zod';
import type { Cause } from '../../events/outbox.ts';
import type { Endpoint, Output } from '../../http/endpoint.ts';
import type { Transaction } from '../../storage/database.ts';
import type { Condition } from '../../storage/list/request.ts';
import { addArticle } from '../crud/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { createAuthoredResource, type Kind, signedInAuthor, staffRights } from './index.ts';
import type { Author, Written } from './store.ts';

interface Texts<R extends Written, Fields, Query extends z.ZodObject>
  extends Omit<Kind<R, Fields>, 'rights'> {
  /** The body of a POST: `replace` makes complete fields of it. */
  readonly create: z.ZodType;
  readonly query: Query;
  conditionsOf(query: Output<Query>): readonly Condition[];
  readonly rows: Kind<R, Fields>['rows'] & {
    insert(session: Transaction, author: Author, fields: Fields, cause: Cause): Promise<R>;
  };
}

/** The operations of one kind of texts, all written by staff. */
export function createTextEndpoints<R extends Written, Fields, Query extends z.ZodObject>(
  dependencies: Dependencies,
  texts: Texts<R, Fields, Query>,
): Endpoint[] {
  const { collection, name, tag, create, replace, query, conditionsOf, rows } = texts;
  const authored = createAuthoredResource<R, Fields>(dependencies, { ...texts, rights: staffRights });
  const path = `/${collection}`;
  return [
    authored.list<undefined, Query>({
      path,
      operationId: `list${tag}`,
      query,
      requested: ({ query }) => ({ query, conditions: conditionsOf(query) }),
    }),
    authored.create({
      path,
      summary: `Write ${addArticle(name)}`,
      description: signedInAuthor,
      body: { schema: create, example: replace.example },
      insert: (session, author, { body, cause }) =>
        rows.insert(session, author, replace.schema.parse(body), cause()),
    }),
    ...authored.single('Anyone who changes it, its author stays.'),
  ];
}
