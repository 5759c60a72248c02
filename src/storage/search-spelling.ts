/**
 * The words a misspelt word may have been meant as. Each word of the documents is kept under itself and under
 * every spelling with one letter left out: two words with one typo between them (a letter too many, too few,
 * another, or two swapped) have such a spelling in common. Words stay when their last document goes; who is
 * offered one looks whether it finds anything.
 */
import { type CompiledQuery, sql } from 'kysely';
import type { Database, Session, Transaction } from './database.ts';
import { canBeMisspelt, isNoWord } from './search-words.ts';

/** In letters. Shorter words are other words with any typo. */
const shortest = 4;
const mostCandidates = 50;
/** Words remembered as stored, so that nobody asks for them at every write. */
const mostKnown = 100_000;

export interface Spelling {
  /** Keeps the words of a document; those with digits are names of things, not words that are misspelt. */
  keep(session: Transaction, entries: readonly string[]): Promise<void>;
  /** Known words with exactly one typo between them and this one, in order; none for words too short or with digits. */
  candidates(session: Session, word: string): Promise<string[]>;
}

export function spelling({ build }: Pick<Database, 'build'>): Spelling {
  const known = new Set<string>();
  /** What each open transaction has seen to: known to others once it has been committed, and not before. */
  const kept = new WeakMap<Transaction, Set<string>>();
  const inserts = new Map<number, CompiledQuery<unknown>>();

  function keptBy(session: Transaction): Set<string> {
    const words = new Set<string>();
    kept.set(session, words);
    session.onCommit(() => {
      if (known.size >= mostKnown) known.clear();
      for (const word of words) known.add(word);
    });
    return words;
  }

  function insert(word: string, spellings: readonly string[]): CompiledQuery<unknown> {
    let query = inserts.get(spellings.length);
    if (query === undefined) {
      const rows = sql.join(spellings.map(() => sql`(${null}, ${null})`));
      query = sql`insert into search_spellings (spelling, word) values ${rows}
        on conflict (spelling, word) do nothing`.compile(build);
      inserts.set(spellings.length, query);
    }
    return { ...query, parameters: spellings.flatMap(spelt => [spelt, word]) };
  }

  return {
    async keep(session, entries) {
      let fresh: string[] | undefined;
      for (const word of entries) {
        if (isNoWord(word) || known.has(word) || !canBeMisspelt(word)) continue;
        fresh ??= [];
        fresh.push(word);
      }
      if (fresh === undefined) return;
      const own = kept.get(session) ?? keptBy(session);
      // In one order for all transactions, so that none waits for another crosswise.
      for (const word of fresh.sort()) {
        if (own.has(word)) continue;
        if ((await session.run(insert(word, [word]))) > 0) {
          await session.run(insert(word, oneLetterLess(word)));
        }
        own.add(word);
      }
    },

    async candidates(session, word) {
      if (!canBeMisspelt(word) || [...word].length < shortest) return [];
      const spellings = [word, ...oneLetterLess(word)];
      const query = sql<{ word: string }>`select distinct word from search_spellings
        where spelling in (${sql.join(spellings)})`;
      const rows = await session.all(query.compile(build));
      const near = rows.map(row => row.word).filter(other => hasOneTypo(word, other));
      return near.sort().slice(0, mostCandidates);
    },
  };
}

function oneLetterLess(word: string): string[] {
  const points = [...word];
  return [...new Set(points.map((_, index) => points.toSpliced(index, 1).join('')))];
}

/** Whether one letter inserted, deleted or replaced, or two neighbours swapped, makes one word the other. */
export function hasOneTypo(a: string, b: string): boolean {
  const [short, long] = [[...a], [...b]].sort((x, y) => x.length - y.length);
  if (short === undefined || long === undefined || long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  const rest = (word: readonly string[], from: number) => word.slice(from).join('');
  if (short.length < long.length) return rest(short, start) === rest(long, start + 1);
  if (start === short.length) return false;
  const swapped = short[start] === long[start + 1] && short[start + 1] === long[start];
  return (
    rest(short, start + 1) === rest(long, start + 1) ||
    (swapped && rest(short, start + 2) === rest(long, start + 2))
  );
}
