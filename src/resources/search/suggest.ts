/** What somebody may be about to ask who is still typing: words, categories and products. */
import { sql } from 'kysely';
import type { Database, Session } from '../../storage/database.ts';
import type { SearchSession } from '../../storage/search/frequency.ts';
import type { SearchType } from '../../storage/search/index.ts';
import { searchReader } from '../../storage/search/read.ts';
import { wordsOf } from '../../storage/search/text/split.ts';
import { vocabulary } from '../../storage/search/vocabulary.ts';
import type { Hit, SearchStore } from './store.ts';

const mostWords = 8;
const mostCategories = 5;
const mostProducts = 5;
/** Words with the same beginning that are compared. */
const wordsCompared = 24;
const longestEnding = 20;
/** Categories that are looked at: of more, those made first. */
const categoriesRead = 5000;

interface CategoryRow {
  readonly id: number;
  readonly name: string;
  readonly path: string;
}

interface Suggestions {
  /** Each with the words of the query before it: the ones that most documents have first. */
  readonly words: readonly string[];
  readonly categories: readonly CategoryRow[];
  readonly products: readonly Hit[];
}

export type Suggester = (query: string, visible: readonly SearchType[]) => Promise<Suggestions>;

export function suggester(database: Database, search: Pick<SearchStore, 'search'>): Suggester {
  const reader = searchReader(database);
  const words = vocabulary(database);
  const categoriesQuery = sql<CategoryRow>`select id, name, path from categories order by id
    limit ${sql.lit(categoriesRead)}`.compile(database.build);

  async function completions(session: SearchSession, query: string, types: readonly SearchType[]) {
    const asked = wordsOf(query);
    const last = asked.at(-1);
    if (last === undefined || types.length === 0) return [];
    const found = await words.beginning(session, last, last.length + longestEnding, wordsCompared);
    const counted: { word: string; total: number }[] = [];
    for (const word of found)
      counted.push({ word, total: await reader.frequency(session, [[[{ word }]]], types) });
    const before = asked.slice(0, -1);
    return counted
      .filter(({ total }) => total > 0)
      .sort((one, other) => other.total - one.total || one.word.length - other.word.length)
      .slice(0, mostWords)
      .map(({ word }) => [...before, word].join(' '));
  }

  /** Those whose name has all words, the last as a beginning: the shortest paths first. */
  async function categoriesFor(session: Session, query: string): Promise<CategoryRow[]> {
    const asked = wordsOf(query);
    const last = asked.pop();
    if (last === undefined) return [];
    const isMeant = ({ name }: CategoryRow) => {
      const own = wordsOf(name);
      return own.some(word => word.startsWith(last)) && asked.every(word => own.includes(word));
    };
    const rows = await session.all(categoriesQuery);
    return rows
      .filter(isMeant)
      .sort((one, other) => one.path.length - other.path.length || one.id - other.id)
      .slice(0, mostCategories);
  }

  return async (query, visible) => {
    const types = visible.filter(type => type !== 'order' && type !== 'user');
    const found = await database.snapshot(async session => ({
      words: await completions({ ...session }, query, types),
      categories: visible.includes('product') ? await categoriesFor(session, query) : [],
    }));
    const products = visible.filter(type => type === 'product');
    const page = { kind: 'offset', page: 1, perPage: mostProducts } as const;
    const { rows } = await search.search({ query, visible: products, types: products, page });
    return { ...found, products: rows.map(({ hit }) => hit) };
  };
}
