/** The prepared statements that read the search index. */
import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { type Arguments, prepareByShape, prepareQuery } from '../../prepared.ts';
import type { PageArguments, Placed, Sample } from '../dialect.ts';
import type { getDialectWords } from '../index.ts';

interface Reach {
  readonly total: number;
  readonly last: number | null;
}

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
    countQuery: prepareQuery<Spanned, { total: number }>(
      build,
      argument => words.count?.(argument) ?? sql`select ${argument.query}`,
    ),
    countTypesQuery: prepareQuery<Spanned, { type: number; total: number }>(
      build,
      argument => words.countTypes?.(argument) ?? sql`select ${argument.query}`,
    ),
    pageQuery: prepareByShape<Arguments & PageArguments<unknown>, { position: number }>(
      build,
      (shape, argument) => {
        const [direction, frequency, ...types] = shape.split(' ');
        return words.page(argument, types.map(Number), direction === 'down', frequency === 'rare');
      },
    ),
    /** How many documents match in a range, up to a limit, and the position of the last of these. */
    reachQuery: prepareByShape<Arguments & Omit<PageArguments<unknown>, 'offset'>, Reach>(
      build,
      (shape, { query, low, high, limit }) => {
        const [frequency, ...types] = shape.split(' ');
        const page = { query, low, high, limit, offset: sql.lit(0) };
        const hits = words.page(page, types.map(Number), false, frequency === 'rare');
        return sql`select cast(count(*) as integer) as total, max(position) as last from (${hits}) as hits`;
      },
    ),
    sampleQuery: prepareQuery<Spanned, Sample>(
      build,
      argument => words.sample?.(argument) ?? sql`select ${argument.query}`,
    ),
  };
}
