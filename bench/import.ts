/** `catalog import` of a made-up file into an empty database: products/s of one process, and its memory. */

import { once } from 'node:events';
import { createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { csvHeader, csvRow } from '../src/files/write.ts';
import { productNumber } from './catalog-data.ts';
import { runFolder } from './databases.ts';
import { residentMiB } from './processes.ts';
import { shipped } from './servers.ts';
import { markdownTable, thousands } from './statistics.ts';

const root = join(import.meta.dir, '..');
const fields = ['sku', 'name', 'price', 'currency', 'description', 'category', 'tags', 'status'] as const;
const rowsPerWrite = 5000;
const sampleMs = 50;

/** @returns a table in Markdown */
export async function measureImport(records: number): Promise<string> {
  const folder = runFolder();
  try {
    const file = join(folder, 'products.csv');
    await writeCsv(file, records);
    await command(['migrate'], folder);
    const { seconds, cpuSeconds, peakMiB } = await command(['import', file], folder);
    return markdownTable([
      ['products', 'file MiB', 'seconds', 'products/s', 'products per CPU second', 'peak MiB'],
      [
        thousands(records),
        thousands(statSync(file).size / 1_048_576),
        seconds.toFixed(1),
        thousands(records / seconds),
        thousands(records / cpuSeconds),
        peakMiB.toFixed(0),
      ],
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeCsv(file: string, records: number): Promise<void> {
  const output = createWriteStream(file);
  output.write(csvHeader(fields));
  for (let first = 1; first <= records; first += rowsPerWrite) {
    let text = '';
    for (let number = first; number < first + rowsPerWrite && number <= records; number++) {
      text += csvRow(fields, productNumber(number).fields);
    }
    if (!output.write(text)) await once(output, 'drain');
  }
  output.end();
  await once(output, 'close');
}

/** Runs a command of the service to its end. */
async function command(parameters: readonly string[], folder: string) {
  const began = performance.now();
  const child = Bun.spawn([process.execPath, 'src/main.ts', ...parameters], {
    cwd: root,
    env: { PATH: process.env.PATH, ...shipped, DATA_DIR: folder },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  let peakMiB = 0;
  const sampler = setInterval(() => {
    if (child.exitCode === null) peakMiB = Math.max(peakMiB, residentMiB(child.pid));
  }, sampleMs);
  const errors = await new Response(child.stderr).text();
  const status = await child.exited;
  clearInterval(sampler);
  if (status !== 0) throw new Error(`catalog ${parameters[0]} ended with ${status}: ${errors}`);
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000;
  return { seconds, cpuSeconds, peakMiB };
}
