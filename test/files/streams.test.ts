/** Batches, and what reading a large file costs. */
import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { type FileFormat, peek, readRecords } from '../../src/files/read.ts';
import { brief, bytesOf, streamOf } from '../support/records.ts';

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

  // In a process of its own, away from what the tests before left behind. The peak is sampled because the
  // kernel's own figure (maxRSS) starts at that of the parent.
  const measure = `
    import { readRecords } from ${JSON.stringify(`${import.meta.dir}/../../src/files/read.ts`)};
    const [format, unit, times] = process.argv.slice(1);
    const bytes = new TextEncoder().encode(unit.repeat(Number(times)));
    let left = Math.ceil(250e6 / bytes.length);
    let peak = 0;
    const source = new ReadableStream({
      pull(controller) {
        peak = Math.max(peak, process.memoryUsage.rss());
        return left-- > 0 ? controller.enqueue(bytes.slice()) : controller.close();
      },
    });
    let count = 0;
    for await (const batch of readRecords(source, format)) count += batch.length;
    console.log(JSON.stringify([count, peak / 2 ** 20]));
  `;
  const files: [what: string, format: FileFormat, unit: string, times: number, records: number][] = [
    ['many CSV rows', 'csv', `${'x'.repeat(99)}\n`, 1000, 2_499_999],
    ['many NDJSON lines', 'ndjson', `{"name":"${'x'.repeat(88)}"}\n`, 1000, 2_500_000],
    ['one NDJSON line', 'ndjson', 'x', 100_000, 1],
    ['one CSV line', 'csv', 'x', 100_000, 1],
    ['one JSON element', 'json', '[', 100_000, 1],
  ];
  for (const [what, format, unit, times, records] of files) {
    test(`250 MB of ${what} are read in less than 150 MB of memory`, async () => {
      const child = Bun.spawn([process.execPath, '-e', measure, format, unit, String(times)]);
      const result: unknown = await new Response(child.stdout).json();
      const [count, peakMiB] = z.tuple([z.number(), z.number()]).parse(result);
      expect(count).toBe(records);
      expect(peakMiB).toBeLessThan(150);
    }, 30_000);
  }
});
