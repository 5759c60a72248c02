/**
 * Documents with words of letters and digits are also found by parts of these words: `WH-1000XM5` by `xm5`. Only such
 * documents are written again. A program without this migration finds and writes them by their whole words.
 */
import { splitLettersAndDigits } from '../search/text/joined.ts';
import { splitWords } from '../search/text/split.ts';
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

export const partsOfWords: Migration = {
  name: '0033-expand-parts-of-words',
  prepare: database => writeAgain(database, hasMixedWords),
  async up() {},
};

const hasMixedWords = (text: string): boolean =>
  splitWords(text).some(word => splitLettersAndDigits(word).length > 0);
