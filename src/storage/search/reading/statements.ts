/** The prepared statements that read the search index. */
import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { type Arguments, prepareByShape, prepareQuery } from '../../prepared.ts';
import type { PageArguments, Placed, Sample } from '../dialect.ts';
import type { getDialectWords } from '../index.ts';

type Spanned = { query: string; low: number; high: number };

export function createReadStatements(build: Database['build'], words: ReturnType<typeof getDialectWords>) {
  return {
    longerQuery: prepareQuery<{ word: string; limit: number }, { word: string }>(
      build,
      argument => words.longerWords?.(argument) ?? sql`select ${argument.word} limit ${argument.limit}`,
    ),
    documentsQuery: prepareByShape<Arguments, Placed>(build, (shape, argument) => {
      const queries = Array.from({ length: Number(shape) }, (_, at) => argument[`query${at}`] ?? sql``);
      const { low = sql``, high = sql``, limit = sql`` } = argument;
      return words.documentsOf?.(queries, { low, high, limit }) ?? sql`select ${sql.join(queries)}`;
    }),
    instancesQuery: prepareQuery<{ word: string; limit: number }, { total: number }>(
      build,
      argument => words.instances?.(argument) ?? sql`select ${argument.word}, ${argument.limit}`,
    ),
    countQuery: prepareQuery<{ query: string; low: number; high: number }, { total: number }>(
      build,
      argument => words.count(argument),
    ),
    countTypesQuery: prepareQuery<Spanned, { type: number; total: number }>(
      build,
      argument => words.countTypes?.(argument) ?? sql`select ${argument.query}`,
    ),
    countUpToQuery: prepareQuery<Spanned & { limit: number }, { total: number }>(
      build,
      argument => words.countUpTo?.(argument) ?? words.count(argument),
    ),
    pageQuery: prepareByShape<Arguments & PageArguments<unknown>, { position: number }>(
      build,
      (shape, argument) => {
        const [direction, frequency, ...types] = shape.split(' ');
        return words.page(argument, types.map(Number), direction === 'down', frequency === 'rare');
      },
    ),
    sampleQuery: prepareQuery<Spanned, Sample>(
      build,
      argument => words.sample?.(argument) ?? sql`select ${argument.query}`,
    ),
  };
}
