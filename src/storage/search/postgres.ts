/**
 * The search index on PostgreSQL. A document is a `tsvector` of the words as they are. No configuration, dictionary or
 * extension is used, so that none must be installed and every server finds the same.
 */
import { sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import {
  buildTypeCondition,
  type DialectWords,
  type Entry,
  type Part,
  type Placed,
  type SpellingStatements,
} from './dialect.ts';
import { type Term, toExpressionText } from './expression.ts';

const buildTypeFilter = (types: readonly number[]) =>
  buildTypeCondition(sql`floor(position / 4294967296)`, types);
const quoteTerm = ({ word, mark = '', prefix }: Term) => `'${mark}${word}'${prefix === true ? ':*' : ''}`;

/**
 * Values that the planner does not see, so that it plans the statement once. It would plan each execution for constants
 * that it thinks cheaper: because of statistics, or because they need not be converted from the driver's types. For a
 * rare word, planning takes as long as finding its documents.
 */
const hide = {
  query: (value: Part) => sql`(select ${value}::tsquery)`,
  position: (value: Part) => sql`(select ${value}::double precision)`,
  limit: (value: Part) => sql`(select ${value}::bigint)`,
};

const buildList = (words: Part) => sql`string_to_array(${words}::text, ' ')`;
const buildPairs = (words: Part) =>
  sql`select split_part(pair, ':', 1), split_part(pair, ':', 2) from unnest(${buildList(words)}) as listed (pair)`;
/** Each word with its query, which is made once instead of for each document. */
const buildQueries = (words: Part) => sql`(select word, quote_literal(word)::tsquery as query
  from unnest(${buildList(words)}) as given (word) offset 0) as listed`;

const spellings: SpellingStatements = {
  kept: (words, lock) => sql<{ word: string }>`select word from search_spellings
    where spelling = any(${buildList(words)}) and word = spelling
    order by spelling ${sql.raw(lock === 'shared' ? 'for key share' : 'for update')}`,
  spelt: spellings => sql<{ word: string }>`select distinct word from search_spellings
    where spelling = any(${buildList(spellings)})`,
  // `position + 0` keeps PostgreSQL from using the index of positions: rare words are found by the index of words. With
  // the limit it plans a join, which uses that index even before the documents have been analyzed.
  unused: (words, below) => sql<{ word: string }>`select word from ${buildQueries(words)}
    where not exists (select 1 from search_index where words @@ query and position + 0 < ${below} limit 1)`,
  // GIN keeps up to 4 MB of recent writes unsorted, and scans them for each word. Only the owner may sort them in; an
  // import may have dropped the index.
  sortIn: sql`select gin_clean_pending_list(oid) from pg_class
    where oid = to_regclass('search_index_by_word') and pg_has_role(relowner, 'usage')`,
  rare: (words, below) => sql<{ word: string }>`with sample as materialized (
      select words from search_index where position < ${below} order by position desc limit 64)
    select word from ${buildQueries(words)} where not exists (select 1 from sample where words @@ query)`,
  insert: spelt => sql`insert into search_spellings (spelling, word) ${buildPairs(spelt)}
    on conflict (spelling, word) do nothing`,
  remove: spelt => sql`delete from search_spellings where (spelling, word) in (${buildPairs(spelt)})`,
  // Not ts_stat: its tree is not balanced, and takes hours for words in sorted order, such as numbered SKUs.
  indexed: below => sql<{ word: string }>`select distinct word
    from search_index cross join lateral unnest(tsvector_to_array(words)) as word where position < ${below}`,
};

const documentsAtOnce = 500;

async function* readEntries(session: Session, build: Builder): AsyncGenerator<Entry[]> {
  for (let last = 0; ; ) {
    const query = sql<{ position: number; words: string }>`select position,
        array_to_string(tsvector_to_array(words), ' ') as words
      from search_index where position > ${last} order by position limit ${sql.lit(documentsAtOnce)}`;
    const rows = await session.all(query.compile(build));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows.flatMap(({ position, words }) =>
      words.split(' ').flatMap(word => (word === '' ? [] : [{ position, word }])),
    );
    last = end.position;
  }
}

export const postgresWords: DialectWords = {
  blocksEventLoop: false,
  spellings,

  tables: () => [
    // A double, because the driver returns 64-bit integers as text.
    sql`create table search_index (position double precision primary key, words tsvector not null)`,
    sql`create index search_index_by_word on search_index using gin (words)`,
    sql`create table search_spellings (spelling text collate "C" not null, word text collate "C" not null,
      primary key (spelling, word))`,
  ],

  // Autovacuum does this.
  compact: () => [],

  insert: rows =>
    sql`insert into search_index (position, words)
      select position, array_to_tsvector(string_to_array(words, ' ')) from (${rows}) as given (position, words)
      on conflict (position) do update set words = excluded.words`,
  // Words have no characters with a special meaning in the text of a tsvector.
  copied: ['position', 'words'],
  remove: positions => sql`delete from search_index where position in (${positions})`,
  clear: () => [sql`delete from search_index`, sql`delete from search_spellings`],
  entries: readEntries,

  text: expression => toExpressionText(expression, { and: ' & ', or: ' | ' }, quoteTerm),

  // Walking through all documents in order finds a common word at once and hardly ever a rare one; the index of words
  // is the opposite. `position + 0` keeps PostgreSQL from using the order of positions.
  page({ query, low, high, limit, offset }, types, descending, rare) {
    const isOfTypes = buildTypeFilter(types);
    const order = sql.raw(descending ? 'desc' : 'asc');
    if (!rare)
      return sql`select position from search_index
        where words @@ ${query}::tsquery and position >= ${low} and position < ${high} ${isOfTypes}
        order by position ${order} limit ${limit} offset ${offset}`;
    return sql`select position from search_index
      where words @@ ${hide.query(query)} and position + 0 >= ${hide.position(low)}
        and position + 0 < ${hide.position(high)} ${isOfTypes}
      order by position + 0 ${order} limit ${hide.limit(limit)} offset ${hide.limit(offset)}`;
  },

  lastPosition: below => sql`select coalesce(max(position), 0) as position from search_index
    where position < ${below}`,

  // The statistics of ANALYZE, which autovacuum runs.
  commonWords: () => sql`select listed.word, listed.share from pg_stats
    cross join unnest(most_common_elems::text::text[], most_common_elem_freqs) as listed (word, share)
    where schemaname = current_schema() and tablename = 'search_index' and attname = 'words'
      and listed.word is not null`,

  sample: ({ query, low, high }) => sql`
    select cast(count(*) filter (where words @@ ${query}::tsquery) as integer) as hits,
      cast(count(*) as integer) as documents
    from (select ${low}::double precision as first, coalesce(max(position), 0) as last
      from search_index where position < ${high}) as span
    cross join generate_series(0, 7) as step
    cross join lateral (select words from search_index
      where position >= span.first + floor((span.last - span.first) * step / 8)
      order by position limit 32) as sampled`,

  countTypes: ({ query, low, high }) => sql`
    select cast(floor(position / 4294967296) as integer) as type, cast(count(*) as integer) as total
    from search_index
    where words @@ ${query}::tsquery and position + 0 >= ${low} and position + 0 < ${high}
    group by 1`,

  documentsOf: (queries, { low, high, limit }) => sql<Placed>`
    select cast(place as integer) as place, position
    from unnest(array[${sql.join(queries)}]::text[]) with ordinality as wanted (query, place)
    cross join lateral (select position from search_index
      where words @@ wanted.query::tsquery and position + 0 >= ${hide.position(low)}
        and position + 0 < ${hide.position(high)}
      order by position + 0 limit ${hide.limit(limit)}) as found
    order by place, position`,

  // Each page would collect all documents of the word again.
  ids: ({ query, low, high }) => sql`
    select string_agg(int4send(cast(position - ${low} as integer)), ''::bytea order by position) as ids
    from search_index where words @@ ${query}::tsquery and position + 0 >= ${low} and position + 0 < ${high}`,
};
