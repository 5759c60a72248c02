/** The schema of synonyms: words that searches treat as equal. */
import { z } from 'zod';
import { commonSorts, listParameters } from '../../http/paginate.ts';
import { hasNoneTwice, identifier, text, timestamp } from '../../http/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

/** The maximum number of groups: all of them are kept in memory. */
export const synonymsLimit = 5000;

/** Matches text with a letter or digit; searches ignore anything else. */
const searchable = /[\p{L}\p{N}]/u;
const word = text(100).refine(value => searchable.test(value), {
  error: 'must have a letter or a digit',
  params: { rule: 'pattern' },
});

const words = z
  .array(word)
  .min(2)
  .max(20)
  .refine(values => hasNoneTwice(values.map(value => value.toLowerCase())), {
    error: 'must not name a word twice',
    params: { rule: 'uniqueItems' },
  })
  .describe('Words or short phrases: a search for any of them finds all of them.')
  .meta({ examples: [['sofa', 'couch', 'settee']], uniqueItems: true });

const example = {
  id: 1,
  words: ['sofa', 'couch', 'settee'],
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
};
export const synonymBodyExample = { words: example.words };

export const synonym = z
  .object({ id: identifier(), words, createdAt: timestamp(), updatedAt: timestamp() })
  .meta({ id: 'Synonym', example });
export const { hal, page } = buildHalSchemas(synonym, 'synonyms', { always: ['edit', 'delete'] });

/** POST and PUT. */
export const replaceSynonym = z.object({ words }).meta({ id: 'WriteSynonym' });

export const patchSynonym = replaceSynonym.partial().meta({ id: 'PatchSynonym' });

export const sortColumns = commonSorts;
export const listSynonyms = z.object(listParameters(sortColumns));

export type Synonym = z.output<typeof synonym>;
export type SynonymFields = z.output<typeof replaceSynonym>;
