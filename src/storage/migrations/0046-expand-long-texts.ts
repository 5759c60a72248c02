/**
 * Documents with more words than are indexed are found by codes, brand, categories, tags and attributes, which came after
 * the body, and no longer by the last words of the body. Words of scripts that a dictionary splits are cut like others:
 * PostgreSQL damaged those of more than 2,046 bytes. Only documents with so many words, or with a long text in such a
 * script, are indexed again. A release without this migration still writes them as before.
 */
import type { SearchDocument } from '../search/index.ts';
import { getShownFields, maxWords, toDocumentWords } from '../search/text/words.ts';
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

const divided = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]{33}/u;

/** The document with its texts in the former order. */
const toFormer = ({ id, title, body, fields }: SearchDocument): SearchDocument => {
  if (fields === undefined) return { id, title, body };
  const { brand, categories, attributes, tags } = fields;
  return { id, title, body: [body, brand ?? '', ...categories, ...attributes, ...tags].join('\n') };
};

/** The most words that a document has for each of its characters: parts of codes, each in a title. */
const maxWordsPerCharacter = 4;

/** Whether not all of its words may be indexed. */
function isLong(document: SearchDocument): boolean {
  const { title, body } = document;
  const length = getShownFields(document).reduce(
    (sum, text) => sum + text.length,
    title.length + body.length,
  );
  return length * maxWordsPerCharacter >= maxWords && toDocumentWords(document).length >= maxWords;
}

export const longTexts: Migration = {
  name: '0046-expand-long-texts',
  prepare: database =>
    writeAgain(
      database,
      (text, document) => divided.test(text) || (text === document.title && isLong(document)),
      toFormer,
    ),
  async up() {},
};
