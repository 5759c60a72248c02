/** The statements that reading the search index runs again and again. */
import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { type Arguments, prepared, preparedByShape } from '../../prepared.ts';
import type { PageArguments, Placed, Sample } from '../dialect.ts';
import type { wordsOfDialect } from '../index.ts';

type Spanned = { query: string; low: number; high: number };

export function readStatements(build: Database['build'], words: ReturnType<typeof wordsOfDialect>) {
  return {
    longerQuery: prepared<{ word: string; limit: number }, { word: string }>(
      build,
      argument => words.longerWords?.(argument) ?? sql`select ${argument.word} limit ${argument.limit}`,
    ),
    documentsQuery: prepared<Spanned & { limit: number }, Placed>(
      build,
      argument => words.documentsOf?.(argument) ?? sql`select ${argument.query}`,
    ),
    instancesQuery: prepared<{ word: string; limit: number }, { total: number }>(
      build,
      argument => words.instances?.(argument) ?? sql`select ${argument.word}, ${argument.limit}`,
    ),
    countQuery: prepared<{ query: string; low: number; high: number }, { total: number }>(build, argument =>
      words.count(argument),
    ),
    countTypesQuery: prepared<Spanned, { type: number; total: number }>(
      build,
      argument => words.countTypes?.(argument) ?? sql`select ${argument.query}`,
    ),
    countUpToQuery: prepared<Spanned & { limit: number }, { total: number }>(
      build,
      argument => words.countUpTo?.(argument) ?? words.count(argument),
    ),
    pageQuery: preparedByShape<Arguments & PageArguments<unknown>, { position: number }>(
      build,
      (shape, argument) => {
        const [direction, frequency, ...types] = shape.split(' ');
        return words.page(argument, types.map(Number), direction === 'down', frequency === 'rare');
      },
    ),
    sampleQuery: prepared<Spanned, Sample>(
      build,
      argument => words.sample?.(argument) ?? sql`select ${argument.query}`,
    ),
  };
}
