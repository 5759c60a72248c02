/** Reads the documents of rare prefixes on SQLite, whose index lists words in order. */
import type { Database, Session } from '../../database.ts';
import { prepareQuery } from '../../prepared.ts';
import type { Entry } from '../dialect.ts';
import type { Choice } from '../expression.ts';
import { type DocumentType, type getDialectWords, getDocumentType, searchTypes } from '../index.ts';

/** A prefix is rare if documents have fewer than this many words that begin with it, a word of each document counting. */
const fewEntries = 200;
const searched: ReadonlySet<DocumentType> = new Set(searchTypes);

/**
 * @returns a reader of the documents of some choices: those of prefixes that are rare, and of the same words without
 * the prefix, which the same rows show; undefined where prefixes cost no more than words
 */
export function createPrefixReader(
  build: Database['build'],
  { entriesOf }: ReturnType<typeof getDialectWords>,
) {
  if (entriesOf === undefined) return undefined;
  const entriesQuery = prepareQuery<{ word: string; limit: number }, Entry>(build, entriesOf);
  return async (session: Session, choices: readonly Choice[]): Promise<(readonly number[] | undefined)[]> => {
    const words = new Map<string, readonly number[]>();
    const prefixes = new Map<string, readonly number[]>();
    for (const { word, mark = '', prefix } of choices.flat()) {
      if (prefix !== true) continue;
      const marked = mark + word;
      const entries = await session.all(entriesQuery({ word: marked, limit: fewEntries }));
      if (entries.length === fewEntries) continue;
      prefixes.set(marked, toPositions(entries));
      words.set(marked, toPositions(entries.filter(entry => entry.word === marked)));
    }
    return choices.map(([term, another]) => {
      if (term === undefined || another !== undefined) return undefined;
      const { word, mark = '', prefix } = term;
      return (prefix === true ? prefixes : words).get(mark + word);
    });
  };
}

const toPositions = (entries: readonly Entry[]): readonly number[] => {
  const positions = new Set(entries.map(({ position }) => position));
  return [...positions].filter(position => searched.has(getDocumentType(position))).sort((a, b) => a - b);
};
