/**
 * The search index on SQLite: FTS5, which only stores which words are in which documents. The tokenizer `ascii` treats
 * every character beyond ASCII as part of a word, so it splits only at the spaces that we insert.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Builder, Session } from '../database.ts';
import { buildTypeCondition, type DialectWords, type Entry, type SpellingStatements } from './dialect.ts';
import { type Term, toExpressionText } from './expression.ts';

/** FTS5 collects all documents of a prefix before it returns the first; it returns documents of words one by one. */
function quoteTerm({ word, mark = '', prefix, longer }: Term): string {
  const quoteText = (text: string) => `"${mark}${text}"`;
  if (prefix !== true) return quoteText(word);
  return longer === undefined ? `${quoteText(word)}*` : `(${[word, ...longer].map(quoteText).join(' OR ')})`;
}

/** The name of the FTS5 table. */
export const indexTable = 'search_index';

const buildSetting = (name: 'automerge' | 'crisismerge' | 'usermerge' | 'merge', value: number) =>
  `insert into search_index (search_index, rank) values ('${name}', ${value})`;
const compact = `insert into search_index (search_index) values ('optimize')`;

/**
 * Each commit adds a piece to the index; each write merges some of the pieces. An import, which no request waits for,
 * merges as many as sixty-four at once, which costs less and may take a second.
 */
export const hastyMerging = [buildSetting('automerge', 0), buildSetting('crisismerge', 64)] as const;
/** Returns to the usual merging, and merges everything into one piece. */
export const tidyMerging = [buildSetting('automerge', 4), buildSetting('crisismerge', 16), compact] as const;

/**
 * For sqlite/merging.ts, which merges the pieces when there are eight of a size: a statement that writes documents
 * merges them only when there are far more than are ever left.
 */
export const slicedSettings = [
  { name: 'automerge', value: 0, statement: buildSetting('automerge', 0) },
  { name: 'usermerge', value: 8, statement: buildSetting('usermerge', 8) },
  { name: 'crisismerge', value: 200, statement: buildSetting('crisismerge', 200) },
];
/** Pages that one statement merges: whole words, so that it takes longer if a word is in very many documents. */
export const mergedPages = 16;
export const mergeSome = buildSetting('merge', mergedPages);

/** The words of a list that is separated by spaces; no word has a character that JSON would escape. */
const buildTypeFilter = (types: readonly number[]) => buildTypeCondition(sql`(rowid >> 32)`, types);
const buildList = (words: RawBuilder<unknown>) =>
  sql`json_each('["' || replace(${words}, ' ', '","') || '"]')`;
/** A single list of pairs: to join two lists, SQLite would scan one of them for each element of the other. */
const buildPairs = (words: RawBuilder<unknown>) =>
  sql`select substr(value, 1, instr(value, ':') - 1), substr(value, instr(value, ':') + 1) from ${buildList(words)}`;

const spellings: SpellingStatements = {
  // There is only one writer: what it reads does not change.
  kept: words => sql<{ word: string }>`select word from search_spellings
    where spelling in (select value from ${buildList(words)}) and word = spelling order by spelling`,
  spelt: spellings => sql<{ word: string }>`select distinct word from search_spellings
    where spelling in (select value from ${buildList(spellings)})`,
  unused: (words, below) => sql<{ word: string }>`select value as word from ${buildList(words)} as listed
    where not exists (select 1 from search_index
      where search_index match '"' || listed.value || '"' and rowid < ${below})`,
  insert: spelt => sql`insert or ignore into search_spellings (spelling, word) ${buildPairs(spelt)}`,
  remove: spelt => sql`delete from search_spellings where (spelling, word) in (${buildPairs(spelt)})`,
  indexed: below =>
    sql<{ word: string }>`select distinct term as word from search_terms where doc < ${below}`,
};

const entriesAtOnce = 20_000;

/** In the order of words, the only one there is. A word with more documents than are read at once is continued. */
async function* readEntries(session: Session, build: Builder): AsyncGenerator<Entry[]> {
  for (let [word, read] = ['', 0]; ; ) {
    const query = sql<Entry>`select term as word, doc as position from search_terms
      where term >= ${word} limit ${sql.lit(entriesAtOnce)} offset ${read}`;
    const rows = await session.all(query.compile(build));
    const last = rows.at(-1)?.word;
    if (last === undefined) return;
    yield rows;
    const ofLast = rows.length - rows.findIndex(row => row.word === last);
    read = last === word ? read + ofLast : ofLast;
    word = last;
  }
}

export const sqliteWords: DialectWords = {
  blocksEventLoop: true,
  spellings,

  tables: () => [
    sql`create virtual table search_index
      using fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`,
    sql`create virtual table search_terms using fts5vocab (search_index, instance)`,
    sql`create table search_spellings (spelling text not null, word text not null,
      primary key (spelling, word)) without rowid`,
  ],

  compact: () => [sql.raw(compact)],

  insert: rows => sql`insert or replace into search_index (rowid, words) ${rows}`,
  remove: positions => sql`delete from search_index where rowid in (${positions})`,
  clear: () => [
    sql`insert into search_index (search_index) values ('delete-all')`,
    sql`delete from search_spellings`,
  ],
  entries: readEntries,

  text: expression => toExpressionText(expression, { and: ' AND ', or: ' OR ' }, quoteTerm),

  page: ({ query, low, high, limit, offset }, types, descending) => sql`
    select rowid as position from search_index
    where search_index match ${query} and rowid >= ${low} and rowid < ${high}
      ${buildTypeFilter(types)}
    order by rowid ${sql.raw(descending ? 'desc' : 'asc')} limit ${limit} offset ${offset}`,

  count: ({ query, low, high }) => sql`
    select cast(count(*) as integer) as total from search_index
    where search_index match ${query} and rowid >= ${low} and rowid < ${high}`,

  lastPosition: below =>
    sql`select coalesce(max(id), 0) as position from search_index_docsize where id < ${below}`,

  // No character of a word sorts before the exclamation mark, or after the last code point. Each step goes to the
  // next word, past all documents of the one before.
  longerWords: ({ word, limit }) => {
    const buildNext = (after: RawBuilder<unknown>) => sql`select term from search_terms
      where term >= ${after} || '!' and term <= ${word} || ${'\u{10ffff}'} limit 1`;
    return sql`with recursive longer (word) as (
        select * from (${buildNext(word)})
        union all select (${buildNext(sql`longer.word`)}) from longer where word is not null limit ${limit}
      ) select word from longer where word is not null`;
  },

  entriesOf: ({ word, limit }) => sql<Entry>`select term as word, doc as position from search_terms
    where term >= ${word} and term <= ${word} || ${'\u{10ffff}'} limit ${limit}`,

  instances: ({ word, limit }) => sql`select count(*) as total from (select 1 from search_terms
    where term >= ${word} and term <= ${word} || ${'\u{10ffff}'} limit ${limit})`,
};
