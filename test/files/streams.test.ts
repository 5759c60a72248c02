/** Batches, and sources that are only partly read. */
import { describe, expect, test } from 'bun:test';
import { peek, readRecords } from '../../src/files/read.ts';
import { brief, bytesOf, streamOf } from '../support/samples/records.ts';

describe('batches and streams', () => {
  test('a batch holds at most 1000 records, and all come in order', async () => {
    const sizes: number[] = [];
    const lines: number[] = [];
    for await (const batch of readRecords(streamOf('{}\n'.repeat(2500)), 'ndjson')) {
      sizes.push(batch.length);
      lines.push(...batch.map(record => record.line));
    }
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(lines).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1));
  });

  test('stopping early closes the source', async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: controller => controller.enqueue(bytesOf('{"a":1}\n'.repeat(1000))),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readRecords((await peek(endless, 10)).source, 'ndjson')) break;
    expect(cancelled).toBe(true);
  });

  test('peek loses nothing', async () => {
    for (const length of [1, 10, 1000]) {
      const { firstBytes, source } = await peek(streamOf('{"a":1}\n{"a":2}\n', [3]), length);
      expect(firstBytes.length).toBe(Math.min(16, Math.ceil(length / 3) * 3));
      const all = await Array.fromAsync(readRecords(source, 'ndjson'));
      expect(brief(all.flat())).toEqual([
        [1, { a: 1 }],
        [2, { a: 2 }],
      ]);
    }
  });
});
