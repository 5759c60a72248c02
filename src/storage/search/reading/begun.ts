/** Reads the documents of rare prefixes on SQLite, whose index lists words in order. */
import type { Database, Session } from '../../database.ts';
import { prepareQuery } from '../../prepared.ts';
import type { Entry } from '../dialect.ts';
import type { Term } from '../expression.ts';
import { type DocumentType, type getDialectWords, getDocumentType, searchTypes } from '../index.ts';

/** A prefix is rare if documents have fewer than this many words that begin with it, a word of each document counting. */
const fewEntries = 200;
const found: ReadonlySet<DocumentType> = new Set(searchTypes);

/**
 * @returns a reader of the documents of some terms: those of prefixes that are rare, and of the same words without the
 * prefix, which the same rows show; undefined where prefixes cost no more than words
 */
export function createPrefixReader(
  build: Database['build'],
  { entriesOf }: ReturnType<typeof getDialectWords>,
) {
  if (entriesOf === undefined) return undefined;
  const entriesQuery = prepareQuery<{ word: string; limit: number }, Entry>(build, entriesOf);
  return async (session: Session, terms: readonly Term[]): Promise<(readonly number[] | undefined)[]> => {
    const documents = new Map<string, readonly number[]>();
    for (const term of terms) {
      if (term.prefix !== true) continue;
      const word = toWord(term);
      const entries = await session.all(entriesQuery({ word, limit: fewEntries }));
      if (entries.length === fewEntries) continue;
      documents.set(`${word}*`, toPositions(entries));
      documents.set(word, toPositions(entries.filter(entry => entry.word === word)));
    }
    return terms.map(term => documents.get(term.prefix === true ? `${toWord(term)}*` : toWord(term)));
  };
}

const toWord = ({ word, mark = '' }: Term): string => mark + word;

const toPositions = (entries: readonly Entry[]): readonly number[] => {
  const positions = new Set(entries.map(({ position }) => position));
  return [...positions].filter(position => found.has(getDocumentType(position))).sort((a, b) => a - b);
};
