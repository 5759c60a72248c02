/** Reads from the index which products have a word. */
import { createGrowingArray } from '../../../arrays/growing.ts';
import { readPaced } from '../../../turns/slices.ts';
import type { Database } from '../../database.ts';
import { prepareQuery } from '../../prepared.ts';
import { getDialectWords, getDocumentId } from '../index.ts';
import { toSpan } from '../reading/frequency.ts';
import type { SearchReader } from '../reading/index.ts';
import type { WordSource } from './words.ts';

interface Spanned {
  readonly query: string;
  readonly low: number;
  readonly high: number;
}

const types = ['product'] as const;

/** @param reader reads only the index */
export function createIdReader(
  database: Pick<Database, 'build' | 'dialect' | 'read'>,
  reader: Pick<SearchReader, 'page'>,
): WordSource['read'] {
  const { build, read } = database;
  const words = getDialectWords(database);
  const { ids: idsOf } = words;
  if (idsOf !== undefined) {
    const query = prepareQuery<Spanned & Record<string, unknown>, { ids: Uint8Array | null }>(build, idsOf);
    return async word => {
      const text = words.text([[[{ word }]]]);
      const row = await read.first(query({ query: text, ...toSpan(types) }));
      return parseIds(row?.ids ?? new Uint8Array());
    };
  }
  return async (word, isGivenUp) => {
    const found = createGrowingArray();
    const pages = readPaced<number>((limit, last) =>
      reader.page(read, [[[{ word }]]], types, { limit, low: last === undefined ? 0 : last + 1 }),
    );
    for await (const positions of pages) {
      for (const position of positions) found.push(getDocumentId(position));
      if (isGivenUp()) break;
    }
    return found.values().slice();
  };
}

function parseIds(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ids = new Uint32Array(bytes.byteLength >>> 2);
  for (let index = 0; index < ids.length; index++) ids[index] = view.getUint32(index * 4);
  return ids;
}
