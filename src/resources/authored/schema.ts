/** The schemas that articles, posts, comments and reviews share. */
import { z } from 'zod';
import { identifier, text } from '../../http/schema.ts';

export const author = z
  .object({
    id: identifier(),
    name: text(200)
      .describe('The name at the time of writing.')
      .meta({ examples: ['Ada Winter'] }),
  })
  .meta({ id: 'Author', description: 'Who wrote it.' });

/** Sort keys of lists of articles and posts → columns. */
export const textSorts = { id: 'id', title: 'title', createdAt: 'created_at' } as const;

const url = (path: string) => z.url().meta({ examples: [`https://shop.example/v1/${path}`] });

/** `_links` of plain JSON. @param more names of collections that belong to an item */
export function jsonLinks<const More extends string = never>(collection: string, ...more: More[]) {
  const others = Object.fromEntries(more.map(name => [name, url(`${collection}/1/${name}`)]));
  return z.object({
    self: url(`${collection}/1`),
    author: url('users/1').optional().describe('Absent if the author no longer has an account.'),
    ...others,
  });
}
