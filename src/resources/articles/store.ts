/** The queries of articles. */

import type { Cause, Outbox } from '../../events/outbox.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { toDates } from '../../storage/moments.ts';
import type { Row } from '../../storage/tables.ts';
import { type Author, createAuthoredStore } from '../authored/store.ts';
import { toArticleText } from '../search/texts.ts';
import type { ArticleFields } from './schema.ts';

export type StoredArticle = Row<'articles'>;

export function toArticle(row: StoredArticle) {
  return {
    id: row.id,
    title: row.title,
    body: row.body,
    author: { id: row.author_id, name: row.author_name },
    tags: parseStored<string[]>(row.tags),
    ...toDates(row),
  };
}

const toArticleColumns = ({ title, body, tags }: ArticleFields) => ({
  title,
  body,
  tags: JSON.stringify(tags),
});

export function createArticleStore(database: Database, outbox: Outbox) {
  const { build } = database;
  const rows = createAuthoredStore<StoredArticle>(database, outbox, {
    table: 'articles',
    resource: 'article',
    columns: ['title', 'body', 'tags', 'author_id'],
    collection: 'articles',
    searched: { type: 'article', textOf: toArticleText },
    representationOf: toArticle,
  });

  async function addTags(session: Transaction, id: number, tags: readonly string[]): Promise<void> {
    if (tags.length === 0) return;
    const values = [...new Set(tags)].map(tag => ({ article_id: id, tag }));
    await session.run(build.insertInto('article_tags').values(values).compile());
  }

  return {
    ...rows,
    async insert(session: Transaction, author: Author, fields: ArticleFields, cause: Cause) {
      const row = await rows.insert(session, author, toArticleColumns(fields), cause);
      await addTags(session, row.id, fields.tags);
      return row;
    },
    /** Writes new fields to a locked article. */
    async update(session: Transaction, before: StoredArticle, fields: ArticleFields, cause: Cause) {
      const row = await rows.update(session, before, toArticleColumns(fields), cause);
      if (row.tags !== before.tags) {
        await session.run(build.deleteFrom('article_tags').where('article_id', '=', row.id).compile());
        await addTags(session, row.id, fields.tags);
      }
      return row;
    },
  };
}
