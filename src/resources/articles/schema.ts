/** The schema of articles. */
import { z } from 'zod';
import { listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, prose, text, timestamp } from '../../http/schema.ts';
import { author, jsonLinks, textSorts } from '../authored/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

const title = text(200).meta({ examples: ['How we choose our wood'] });
const body = prose(100_000).meta({ examples: ['Walnut is dense, dark, and kind to tools.'] });
const tags = z
  .array(text(50))
  .max(50)
  .meta({ examples: [['wood', 'workshop']] });

export const article = z
  .object({
    id: identifier(),
    title,
    body,
    author,
    tags,
    createdAt: timestamp(),
    updatedAt: timestamp(),
    _links: jsonLinks('articles'),
  })
  .meta({ id: 'Article' });

export const { hal, page } = buildHalSchemas(article, 'articles', {
  sometimes: ['author', 'edit', 'delete'],
});

export const createArticle = z.object({ title, body, tags: tags.nullish() }).meta({ id: 'CreateArticle' });

/** PUT: omitted tags become empty. */
export const replaceArticle = createArticle
  .transform(input => ({ title: input.title, body: input.body, tags: input.tags ?? [] }))
  .meta({ id: 'ReplaceArticle' });

export const patchArticle = createArticle.partial().meta({ id: 'PatchArticle' });

export const sortColumns = textSorts;

export const listArticles = z.object({
  author: idFilter('Only articles by the user with this id.'),
  tag: text(50)
    .optional()
    .meta({ description: 'Only articles with this tag.', examples: ['wood'] }),
  ...listParameters(sortColumns),
});

export type ArticleFields = z.output<typeof replaceArticle>;
