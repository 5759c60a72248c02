/**
 * Articles, posts and comments; and the average rating of a product, stored in the product. Articles and posts outlive
 * their author's account, comments and reviews are deleted with it (docs/decisions/0013).
 */
import { sql } from 'kysely';
import type { Database, Session } from '../database.ts';
import type { Migration } from './migration.ts';

export const content: Migration = {
  name: '0006-content',
  async up(session, database) {
    const { build, dialect } = database;
    const { id, text, integer, moment } = dialect.types;
    const author = sql`author_id ${integer} not null,
        author_name ${text} not null,
        user_id ${integer} references users (id) on delete set null`;
    const moments = sql`created_at ${moment} not null,
        updated_at ${moment} not null`;
    const statements = [
      sql`create table articles (
        id ${id},
        title ${text} not null,
        body ${text} not null,
        tags ${text} not null,
        ${author},
        ${moments}
      )`,
      sql`create index articles_by_title on articles (title, id)`,
      sql`create index articles_by_created_at on articles (created_at, id)`,
      sql`create index articles_by_author on articles (author_id, id)`,
      sql`create index articles_by_user on articles (user_id)`,
      sql`create table article_tags (
        article_id ${integer} not null references articles (id) on delete cascade,
        tag ${text} not null,
        primary key (tag, article_id)
      )`,
      sql`create index article_tags_by_article on article_tags (article_id)`,
      sql`create table posts (
        id ${id},
        title ${text} not null,
        body ${text} not null,
        ${author},
        ${moments}
      )`,
      sql`create index posts_by_title on posts (title, id)`,
      sql`create index posts_by_created_at on posts (created_at, id)`,
      sql`create index posts_by_author on posts (author_id, id)`,
      sql`create index posts_by_user on posts (user_id)`,
      sql`create table comments (
        id ${id},
        post_id ${integer} not null references posts (id) on delete cascade,
        user_id ${integer} not null references users (id) on delete cascade,
        author_name ${text} not null,
        body ${text} not null,
        ${moments}
      )`,
      sql`create index comments_by_post on comments (post_id, id)`,
      sql`create index comments_by_post_created_at on comments (post_id, created_at, id)`,
      sql`create index comments_by_user on comments (user_id)`,
      sql`create index reviews_by_rating on reviews (rating, id)`,
      sql`create index reviews_by_created_at on reviews (created_at, id)`,
      sql`alter table products add column rating_sum ${integer} not null default 0`,
      sql`alter table products add column rating_count ${integer} not null default 0`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
    await rateProducts(session, database);
  },
};

/** Adds `rating` to the end of every product's document: see docs/decisions/0002. */
async function rateProducts(session: Session, { build }: Pick<Database, 'build'>): Promise<void> {
  const rated = await session.all(
    sql<{ id: number; sum: number; count: number }>`select product_id as id,
      cast(sum(rating) as integer) as sum, cast(count(*) as integer) as count
      from reviews group by product_id`.compile(build),
  );
  const unrated = ',"rating":{"average":null,"count":0}}';
  await session.run(
    sql`update products set document = substr(document, 1, length(document) - 1) || ${unrated}`.compile(
      build,
    ),
  );
  for (const { id, sum, count } of rated) {
    const ending = `,"rating":{"average":${Math.round((sum * 100) / count) / 100},"count":${count}}}`;
    await session.run(
      sql`update products set rating_sum = ${sum}, rating_count = ${count},
        document = substr(document, 1, length(document) - ${unrated.length}) || ${ending}
        where id = ${id}`.compile(build),
    );
  }
  // Another replica may have cached lists of products as they were before.
  await session.run(
    sql`update collection_versions set version = version + 1 where collection = 'products'`.compile(build),
  );
}
