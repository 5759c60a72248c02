/**
 * Our CSV and JSON readers compared with common libraries, each reading the same bytes into plain objects:
 * `bun bench/alone/readers.ts [RECORDS]`. Rounds alternate, so that other load on the machine affects all alike.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { parser } from 'stream-json';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { readCsv } from '../../src/files/read-csv.ts';
import { readJson } from '../../src/files/read-json.ts';
import { markdownTable, spread, summary } from '../report/statistics.ts';

const records = Number(process.argv[2] ?? 50_000);
const rounds = 5;
const chunkBytes = 65_536;

const products = Array.from({ length: records }, (_, index) => ({
  sku: `SKU-${index}`,
  name: `Product ${index}, "large"`,
  price: `${index % 1000}.50`,
  category: `category-${index % 50}`,
  description: 'A text of the usual length, with words that say what it is. '.repeat(4).trim(),
}));
const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
const csv = Buffer.from(
  [
    'sku,name,price,category,description',
    ...products.map(row => Object.values(row).map(cell).join(',')),
  ].join('\n'),
);
const json = Buffer.from(JSON.stringify(products));

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function countOf(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
}

const readers: Readonly<Record<string, { bytes: number; read(): Promise<number> }>> = {
  'CSV, ours': { bytes: csv.length, read: () => countOf(readCsv(chunksOf(csv), false)) },
  'CSV, csv-parse': {
    bytes: csv.length,
    async read() {
      let count = 0;
      for await (const _ of Readable.from(chunksOf(csv)).pipe(parse({ columns: true, info: true })))
        count += 1;
      return count;
    },
  },
  'JSON, ours': { bytes: json.length, read: () => countOf(readJson(chunksOf(json), undefined)) },
  'JSON, stream-json': {
    bytes: json.length,
    async read() {
      let count = 0;
      const source = Readable.from(chunksOf(json));
      await pipeline(source, parser.asStream(), streamArray.asStream(), async found => {
        for await (const _ of found) count += 1;
      });
      return count;
    },
  },
};

const times = new Map<string, number[]>(Object.keys(readers).map(name => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, { read }] of Object.entries(readers)) {
    const started = performance.now();
    const count = await read();
    if (count !== records) throw new Error(`${name} read ${count} of ${records} records`);
    times.get(name)?.push(performance.now() - started);
  }
}
const rows = [...times].map(([name, taken]) => {
  const { bytes = 0 } = readers[name] ?? {};
  return [name, spread(summary(taken.map(ms => bytes / 1000 / ms)))];
});
console.log(markdownTable([[`${records} records`, 'MB/s'], ...rows]));
