/** The synonyms of a query's words. */
import type { Stems } from '../../../storage/search/text/stems.ts';
import type { Synonyms } from '../../synonyms/store.ts';
import type { Piece } from './pieces.ts';

const mostSynonyms = 20;
/** Words of a query that have synonyms together. */
const mostTogether = 4;

/** What stands for the word at a place, or for words together of which it is one; for another form of it, too. */
export function findSynonyms(
  pieces: readonly Piece[],
  at: number,
  synonyms: Synonyms,
  stems: Stems,
): readonly (readonly string[])[] {
  if (synonyms.size === 0) return [];
  const found: (readonly string[])[] = [];
  for (let first = Math.max(0, at - mostTogether + 1); first <= at; first++) {
    for (let end = at + 1; end <= Math.min(pieces.length, first + mostTogether); end++) {
      const words = pieces.slice(first, end).map(({ word }) => word);
      found.push(...(synonyms.get(words.join(' ')) ?? []));
    }
  }
  const word = pieces[at]?.word ?? '';
  if (found.length === 0)
    for (const [key, others] of synonyms) if (stems.isSame(key, word)) found.push(...others);
  return found.slice(0, mostSynonyms);
}
