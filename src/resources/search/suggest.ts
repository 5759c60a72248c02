/** Suggestions while a query is typed: words, categories and products. */

import { sql } from 'kysely';
import { createFollowedValue } from '../../storage/changes/value.ts';
import type { Database } from '../../storage/database.ts';
import type { SearchType } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import type { SearchReader } from '../../storage/search/reading/index.ts';
import { hasDigit } from '../../storage/search/text/joined.ts';
import { splitWords } from '../../storage/search/text/split.ts';
import type { Stems } from '../../storage/search/text/stems.ts';
import { createVocabulary } from '../../storage/search/vocabulary.ts';
import { takeTurn } from '../../turns/index.ts';
import { mapInSlices } from '../../turns/slices.ts';
import type { StoredCategory } from '../categories/row.ts';
import type { SynonymStore } from '../synonyms/store.ts';
import { createProductNames } from './names/index.ts';
import { parseBeginning, parsePieces } from './query/pieces.ts';
import { findSynonyms } from './query/synonyms.ts';
import { createTermTest } from './snippet.ts';
import type { Hit } from './sources.ts';
import type { SearchStore } from './store.ts';

const maxWords = 8;
const maxCategories = 5;
const maxProducts = 5;
/** How many words with one prefix are compared, and how many of the words before them documents must have. */
const wordsCompared = 24;
const wordsBefore = 3;
const maxEndingLength = 20;
/** The most categories that are compared: those created first. */
const categoriesRead = 5000;

type CategoryRow = Pick<StoredCategory, 'id' | 'name' | 'path'>;

interface KnownCategory {
  readonly row: CategoryRow;
  readonly words: readonly string[];
}

/** Any change of a category invalidates the cached list. */
const categoryCollection = { name: 'categories' } as const;

interface Suggestions {
  /** Completions of the last word, each after the other words of the query: commonest first. */
  readonly words: readonly string[];
  readonly categories: readonly CategoryRow[];
  readonly products: readonly Hit[];
  /** Whether suggestions may differ in a moment, as soon as names are in memory. */
  readonly isProvisional: boolean;
}

/** Must be called after a check for changes. */
export type Suggester = (query: string, visible: readonly SearchType[]) => Promise<Suggestions>;

export function createSuggester(
  database: Database,
  search: Pick<SearchStore, 'search' | 'shown' | 'isCode'>,
  reader: SearchReader,
  stems: Stems,
  synonyms: Pick<SynonymStore, 'current'>,
): Suggester {
  const names = createProductNames(database, stems);
  const words = createVocabulary(database);
  const categoriesQuery = sql<CategoryRow>`select id, name, path from categories order by id
    limit ${sql.lit(categoriesRead)}`.compile(database.build);
  const allCategories = createFollowedValue(
    database.changes,
    categoryCollection,
    async (): Promise<readonly KnownCategory[]> =>
      mapInSlices(await database.read.all(categoriesQuery), row => ({ row, words: splitWords(row.name) })),
  );

  /**
   * Completions of the last of these words in documents that also have the last words before it: commonest first.
   * @param joined what must be joined to them: `akku` of `akku-b`, since documents with `Akku-Bohrer` have `akkubohrer`
   */
  async function findCompletions(
    session: SearchSession,
    wanted: readonly string[],
    joined: string,
    types: readonly SearchType[],
  ): Promise<readonly string[]> {
    const last = wanted.at(-1) ?? '';
    if (types.length === 0) return [];
    const found = await words.beginning(session, last, last.length + maxEndingLength, wordsCompared);
    const counted: { word: string; total: number }[] = [];
    const before = [...new Set(wanted.slice(0, -1))].slice(-wordsBefore);
    for (const word of found) {
      await takeTurn();
      const all = [...before, joined + word];
      const expression = all.map(one => [[{ word: one }]]);
      counted.push({ word, total: await reader.frequency(session, expression, types) });
    }
    return counted
      .filter(({ total }) => total > 0)
      .sort((one, other) => other.total - one.total || one.word.length - other.word.length)
      .slice(0, maxWords)
      .map(({ word }) => word);
  }

  /** Categories whose name has all words, the last as a prefix: shortest paths first. */
  async function findCategories(wanted: readonly string[]): Promise<CategoryRow[]> {
    const [last, ...before] = wanted.toReversed();
    if (last === undefined) return [];
    const isMeant = ({ words: own }: KnownCategory) =>
      own.some(word => word.startsWith(last)) && before.every(word => own.includes(word));
    return (allCategories.peek() ?? (await allCategories.current()))
      .filter(isMeant)
      .map(({ row }) => row)
      .sort((one, other) => one.path.length - other.path.length || one.id - other.id)
      .slice(0, maxCategories);
  }

  /** Products with all words in name or brand; none if others may be meant; `unread` while names are not in memory. */
  async function findByName(query: string): Promise<readonly Hit[] | 'unread'> {
    const pieces = parsePieces(query);
    const [first, second] = pieces;
    // A single piece with digits may be the code of a variant.
    if (first === undefined || (second === undefined && /\d/.test(first.word))) return [];
    // Names are in memory without joined words: `l'or` would be the beginning of `Lord`.
    if (pieces.some(({ parts }) => parts.length > 0)) return [];
    const all = await synonyms.current();
    if (pieces.some((_, at) => findSynonyms(pieces, at, all).length > 0)) return [];
    const wanted = pieces.map(({ word }) => word);
    const hits = await names.find(wanted, maxProducts);
    if (hits === undefined) return 'unread';
    if (hits.length === 0 || (await search.isCode(query))) return [];
    const last = wanted.length - 1;
    return search.shown(hits, createTermTest(wanted.map((word, at) => ({ word, prefix: at === last }))));
  }

  return async (query, visible) => {
    const types = visible.filter(type => type !== 'order' && type !== 'user');
    const wanted = splitWords(query);
    const last = wanted.at(-1) ?? '';
    const session = { ...database.read, seen: reader.seen() };
    // For `spell`, also if no product is then found by name.
    const isSpelled = await names.refresh();
    const { complete, isComplete, joined } = parseBeginning(query, names.spell);
    const named = visible.includes('product') ? await findByName(query) : [];
    const isWord = last !== '' && !hasDigit(last) && !isComplete;
    // Words of documents include pieces of codes, so they are used only if no name has a completion.
    const common =
      isWord && visible.includes('product') ? await names.completions(wanted, maxWords, joined !== '') : [];
    const isProvisional = (!isSpelled || named === 'unread' || common === undefined) && !names.areTooMany();
    const longer =
      !isWord || (common !== undefined && common.length > 0)
        ? (common ?? [])
        : await findCompletions(session, wanted, joined, types);
    const categories = visible.includes('product') ? await findCategories(wanted) : [];
    const words = longer.map(complete);
    if (named !== 'unread' && named.length > 0) return { words, categories, products: named, isProvisional };
    const products = visible.filter(type => type === 'product');
    const page = { kind: 'offset', page: 1, perPage: maxProducts } as const;
    // For `t-sh`, which is one word, the completions are those of `sh` only.
    const isPart = parsePieces(query).at(-1)?.word !== last;
    const request = { query, visible: products, types: products, page, completions: isPart ? [] : longer };
    const { rows } = await search.search(request);
    return { words, categories, products: rows.map(({ hit }) => hit), isProvisional };
  };
}
