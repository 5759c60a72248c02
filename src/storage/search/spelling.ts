/**
 * The words that a misspelt word may stand for: those of public documents. Each is kept under itself and under every
 * spelling with one letter left out: two words with one typo between them (a letter added, omitted or replaced, or two
 * swapped) share such a spelling. Each is also kept backwards, for searches by the ends of words (vocabulary.ts).
 *
 * A word is kept from its first document on and removed with its last. The search index shows whether any are left: a
 * counter would be a row that all writers of a common word wait for. A transaction that adds a document with a word
 * locks the word's row shared; one that removes a document locks it exclusively and then reads the index
 * (docs/decisions/0014).
 */
import { type RawBuilder, sql } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import { sortInSlices, splitIntoParts } from '../../turns/slices.ts';
import type { Database, Ending, Session, Transaction } from '../database.ts';
import { prepareQuery } from '../prepared.ts';
import type { SpellingStatements } from './dialect.ts';
import { canBeMisspelt } from './text/words.ts';

/** Words per statement, so that none takes long. */
const wordsAtOnce = 250;
/** Up to this many words, looking them up costs less than sorting recent writes into the index. */
const manyFreed = 32;
/** Spellings per statement: each is a row at another place of an index. */
const pairsAtOnce = 1000;

export type Spelling = ReturnType<typeof createSpelling>;

/** The first character of each item of the ending: what happened to the word. */
const added = '+';
const dropped = '-';

const keptWords = sql<{ word: string }>`select word from search_spellings where spelling = word`;
const keptPairs = sql<{
  total: number;
}>`select cast(count(*) as integer) as total from search_spellings`;

/** @param below the words of documents before this position of the index are kept */
export function createSpelling(
  { build }: Pick<Database, 'build'>,
  statements: SpellingStatements,
  below: number,
) {
  const limit = sql.lit(below);
  const prepareListing = (query: (words: RawBuilder<unknown>) => RawBuilder<{ word: string }>) => {
    const select = prepareQuery<{ words: string }, { word: string }>(build, ({ words }) => query(words));
    return async (session: Session, words: readonly string[]): Promise<string[]> =>
      words.length === 0
        ? []
        : (await session.all(select({ words: words.join(' ') }))).map(({ word }) => word);
  };
  const lockShared = prepareListing(words => statements.kept(words, 'shared'));
  const lockExclusively = prepareListing(words => statements.kept(words, 'exclusive'));
  const findUnused = prepareListing(words => statements.unused(words, limit));
  const { rare } = statements;
  const sortIn = statements.sortIn?.compile(build);
  const findRare = rare && prepareListing(words => rare(words, limit));

  const prepareWriting = (query: (spelt: RawBuilder<unknown>) => RawBuilder<unknown>) => {
    const write = prepareQuery<{ spelt: string }, unknown>(build, ({ spelt }) => query(spelt));
    return async (session: Session, words: readonly string[]): Promise<void> => {
      const pairs = words.flatMap(word => toSpellings(word).map(spelt => `${spelt}:${word}`));
      for (const some of splitIntoParts(pairs, pairsAtOnce))
        await session.run(write({ spelt: some.join(' ') }));
    };
  };
  const insert = prepareWriting(statements.insert);
  const remove = prepareWriting(statements.remove);

  const ending: Ending = {
    async run(session, items) {
      const used = new Set<string>();
      const freed = new Set<string>();
      const all: string[] = [];
      for (const item of items) {
        const word = item.slice(1);
        if (!used.has(word) && !freed.has(word)) all.push(word);
        (item.startsWith(added) ? used : freed).add(word);
        await takeTurn();
      }
      if (sortIn !== undefined && freed.size > manyFreed) await session.run(sortIn);
      // All transactions use the same order, so that no deadlock arises.
      const words = await sortInSlices(all);
      for (const some of splitIntoParts(words, wordsAtOnce)) {
        let kept = new Set(await (freed.size === 0 ? lockShared : lockExclusively)(session, some));
        const candidates = some.filter(word => freed.has(word));
        const gone = new Set(
          await findUnused(session, (await findRare?.(session, candidates)) ?? candidates),
        );
        await remove(
          session,
          [...gone].filter(word => kept.has(word)),
        );
        const needed = some.filter(word => used.has(word) && !gone.has(word));
        // Another transaction may keep a word first, and a third remove it again before it is locked here.
        for (let missing = omitWords(needed, kept); missing.length > 0; missing = omitWords(missing, kept)) {
          await insert(session, missing);
          kept = new Set(await lockShared(session, missing));
        }
      }
    },
  };

  const postpone = (session: Transaction, mark: string, entries: readonly string[]) => {
    for (const entry of entries) if (canBeMisspelt(entry)) session.atEnd(ending, mark + entry);
  };

  return {
    /** Keeps the words of a document that the transaction writes; those that cannot be misspelt are skipped. */
    keep: (session: Transaction, entries: readonly string[]) => postpone(session, added, entries),
    /** Removes words that a document no longer has, unless another document has them. */
    release: (session: Transaction, entries: readonly string[]) => postpone(session, dropped, entries),

    /** Removes all words, and keeps those of the existing documents. */
    async rebuild(session: Session): Promise<void> {
      await session.run(sql`delete from search_spellings`.compile(build));
      const rows = await session.all(statements.indexed(limit).compile(build));
      const words = rows.map(({ word }) => word).filter(canBeMisspelt);
      for (const some of splitIntoParts(words, wordsAtOnce)) await insert(session, some);
    },

    /** Removes the words that no existing document has. @returns whether there were any */
    async removeUnused(session: Session): Promise<boolean> {
      const indexed = await session.all(statements.indexed(limit).compile(build));
      const used = new Set(indexed.map(({ word }) => word));
      const kept = (await session.all(keptWords.compile(build))).map(({ word }) => word);
      // All transactions use the same order, so that no deadlock arises.
      const words = await sortInSlices(omitWords(kept, used));
      if (sortIn !== undefined && words.length > manyFreed) await session.run(sortIn);
      for (const some of splitIntoParts(words, wordsAtOnce)) {
        // Another transaction may have added a document with one of the words before they are locked here.
        await lockExclusively(session, some);
        await remove(session, await findUnused(session, some));
      }
      return words.length > 0;
    },

    /** Whether exactly the words of the existing documents are kept, each under all of its spellings. */
    async isWhole(session: Session): Promise<boolean> {
      const indexed = await session.all(statements.indexed(limit).compile(build));
      const words = indexed.map(({ word }) => word).filter(canBeMisspelt);
      const kept = new Set((await session.all(keptWords.compile(build))).map(({ word }) => word));
      const total = (await session.first(keptPairs.compile(build)))?.total ?? 0;
      const expected = words.reduce((sum, word) => sum + toSpellings(word).length, 0);
      return kept.size === words.length && words.every(word => kept.has(word)) && total === expected;
    },
  };
}

const omitWords = (words: readonly string[], others: ReadonlySet<string>) =>
  words.filter(word => !others.has(word));

/** The spellings that a word is kept under: itself, with each letter left out, and backwards. */
const toSpellings = (word: string): string[] => [word, ...dropEachLetter(word), toBackwards(word)];

/** A word backwards, marked so that it equals no word: words with the same end are adjacent. */
export const toBackwards = (word: string): string => `<${[...word].reverse().join('')}`;

export function dropEachLetter(word: string): string[] {
  const points = [...word];
  return [...new Set(points.map((_, index) => points.toSpliced(index, 1).join('')))];
}
