/**
 * Records on their way from thread to thread: their longest texts one after another, and the rest as JSON. To copy
 * objects takes several times as long, and to write these texts as JSON twice.
 */
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';

export interface Columns {
  readonly documents: string;
  readonly words: string;
  /** As JSON, a list. */
  readonly rest: string;
}

/** No text of a product holds it: the schema refuses it, and JSON escapes it. */
const between = '\0';

export function toColumns(records: readonly PreparedRecord[]): Columns {
  return {
    documents: records.map(({ row }) => row.document).join(between),
    words: records.map(({ words }) => words).join(between),
    rest: JSON.stringify(
      records.map(({ row: { document: _document, ...row }, words: _words, ...rest }) => ({ ...rest, row })),
    ),
  };
}

export function parseColumns({ documents, words, rest }: Columns): PreparedRecord[] {
  const documentOf = documents.split(between);
  const wordsOf = words.split(between);
  // Boundary: the other thread has written the text.
  return (JSON.parse(rest) as PreparedRecord[]).map((record, index) => ({
    ...record,
    words: wordsOf[index] ?? '',
    row: { ...record.row, document: documentOf[index] ?? '' },
  }));
}
