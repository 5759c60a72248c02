/** The memory that reading a large file takes. */
import { expect, test } from 'bun:test';
import { z } from 'zod';
import type { FileFormat } from '../../../src/files/read.ts';

// In a separate process, unaffected by other tests. The peak is sampled because the kernel's own figure (maxRSS)
// starts at that of the parent.
const measure = `
  import { readRecords } from ${JSON.stringify(`${import.meta.dir}/../../../src/files/read.ts`)};
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
  });
}
