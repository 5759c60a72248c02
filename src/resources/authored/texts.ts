/** The HTTP side of articles and posts: texts of the shop, each kind in its own collection. */
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
  /** The body of a POST; `replace` completes its fields. */
  readonly create: z.ZodType;
  readonly query: Query;
  conditionsOf(query: Output<Query>): readonly Condition[];
  readonly rows: Kind<R, Fields>['rows'] & {
    insert(session: Transaction, author: Author, fields: Fields, cause: Cause): Promise<R>;
  };
}

/** The operations of one kind of text; only staff may write. */
export function createTextEndpoints<R extends Written, Fields, Query extends z.ZodObject>(
  dependencies: Dependencies,
  texts: Texts<R, Fields, Query>,
): Endpoint[] {
  const { name, tag, create, replace, query, conditionsOf, rows } = texts;
  const authored = createAuthoredResource<R, Fields>(dependencies, { ...texts, rights: staffRights });
  return [
    authored.list<undefined, Query>({
      operationId: `list${tag}`,
      query,
      requested: ({ query }) => ({ query, conditions: conditionsOf(query) }),
    }),
    authored.create({
      summary: `Write ${addArticle(name)}`,
      description: signedInAuthor,
      body: { schema: create, example: replace.example },
      insert: (session, author, { body, cause }) =>
        rows.insert(session, author, replace.schema.parse(body), cause()),
    }),
    ...authored.single('The author stays the same, even if another user makes the change.', {}),
  ];
}
