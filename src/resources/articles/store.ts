/** The queries of articles. */

import type { Cause, Outbox } from '../../events/outbox.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { type Author, type AuthoredStore, authoredStore, type Stored } from '../authored/store.ts';
import { articleText } from '../search/texts.ts';
import type { ArticleFields } from './schema.ts';

type ArticleValues = {
  readonly title: string;
  readonly body: string;
  readonly tags: string;
  readonly author_id: number;
  readonly author_name: string;
  readonly user_id: number | null;
  readonly created_at: number;
  readonly updated_at: number;
};
export type StoredArticle = Stored<ArticleValues>;

export interface ArticleStore
  extends Pick<AuthoredStore<ArticleValues>, 'list' | 'find' | 'lock' | 'remove'> {
  insert(session: Transaction, author: Author, fields: ArticleFields, cause: Cause): Promise<StoredArticle>;
  /** Writes new fields over an article that is locked. */
  update(
    session: Transaction,
    before: StoredArticle,
    fields: ArticleFields,
    cause: Cause,
  ): Promise<StoredArticle>;
}

export function articleOf(row: StoredArticle) {
  const tags = parseStored<string[]>(row.tags);
  return {
    id: row.id,
    title: row.title,
    body: row.body,
    author: { id: row.author_id, name: row.author_name },
    tags,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

const columnsOf = ({ title, body, tags }: ArticleFields) => ({ title, body, tags: JSON.stringify(tags) });

export function articleStore(database: Database, outbox: Outbox): ArticleStore {
  const { build } = database;
  const rows = authoredStore<ArticleValues>(database, outbox, {
    table: 'articles',
    resource: 'article',
    columns: ['title', 'body', 'tags', 'author_id', 'author_name', 'user_id', 'created_at', 'updated_at'],
    collection: 'articles',
    searched: { type: 'article', textOf: articleText },
    representationOf: articleOf,
  });

  async function addTags(session: Transaction, id: number, tags: readonly string[]): Promise<void> {
    if (tags.length === 0) return;
    const values = [...new Set(tags)].map(tag => ({ article_id: id, tag }));
    await session.run(build.insertInto('article_tags').values(values).compile());
  }

  return {
    ...rows,
    async insert(session, author, fields, cause) {
      const by = { author_id: author.id, author_name: author.name, user_id: author.id };
      const row = await rows.insert(session, { ...columnsOf(fields), ...by }, cause);
      await addTags(session, row.id, fields.tags);
      return row;
    },
    async update(session, before, fields, cause) {
      const row = await rows.update(session, before, columnsOf(fields), cause);
      if (row.tags !== before.tags) {
        await session.run(build.deleteFrom('article_tags').where('article_id', '=', row.id).compile());
        await addTags(session, row.id, fields.tags);
      }
      return row;
    },
  };
}
