/**
 * Encodes records to pass them between threads: their longest texts are concatenated, and the rest is JSON. Copying
 * objects takes several times as long, and including these texts in the JSON twice as long.
 */
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';

export interface Columns {
  readonly documents: string;
  readonly words: string;
  /** A JSON array. */
  readonly rest: string;
}

/** Never occurs in the texts of a product: the schema refuses it, and JSON escapes it. */
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
  // Boundary: toColumns, in the other thread, wrote this text.
  return (JSON.parse(rest) as PreparedRecord[]).map((record, index) => ({
    ...record,
    words: wordsOf[index] ?? '',
    row: { ...record.row, document: documentOf[index] ?? '' },
  }));
}
