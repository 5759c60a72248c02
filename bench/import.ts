/** `catalog import` of a made-up file into an empty database: products/s of one process, and its memory. */

import { once } from 'node:events';
import { createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { csvHeader, csvRow } from '../src/files/write.ts';
import { productNumber } from './catalog-data.ts';
import { type DatabaseKind, type RunDatabase, runFolder } from './databases.ts';
import type { PostgresServer } from './postgres.ts';
import { residentMiB } from './processes.ts';
import { shipped } from './servers.ts';
import { markdownTable, thousands } from './statistics.ts';

const root = join(import.meta.dir, '..');
const fields = ['sku', 'name', 'price', 'currency', 'description', 'category', 'tags', 'status'] as const;
const rowsPerWrite = 5000;
const sampleMs = 50;

/** CPU of a database's own processes is counted when they have had time to end. */
const restMs = 500;

/** @returns a table in Markdown */
export async function measureImport(
  records: number,
  kinds: readonly DatabaseKind[],
  postgres: PostgresServer | undefined,
): Promise<string> {
  const folder = runFolder();
  try {
    const file = join(folder, 'products.csv');
    await writeCsv(file, records);
    const rows: string[][] = [];
    for (const kind of kinds) {
      const { settings, remove } = await emptyDatabase(kind === 'postgresql' ? postgres : undefined, folder);
      await command(['migrate'], settings);
      const before = postgres?.cpuSeconds() ?? 0;
      const { seconds, cpuSeconds, peakMiB } = await command(['import', file], settings);
      await Bun.sleep(restMs);
      const perProduct = (spent: number) => ((spent / records) * 1_000_000).toFixed(1);
      rows.push([
        kind,
        thousands(records),
        thousands(statSync(file).size / 1_048_576),
        seconds.toFixed(1),
        thousands(records / seconds),
        perProduct(cpuSeconds),
        kind === 'sqlite' ? '–' : perProduct((postgres?.cpuSeconds() ?? 0) - before),
        peakMiB.toFixed(0),
      ]);
      await remove();
    }
    const header = [
      'database',
      'products',
      'file MiB',
      'seconds',
      'products/s',
      'CPU µs',
      'database µs',
      'peak MiB',
    ];
    return markdownTable([header, ...rows]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function emptyDatabase(server: PostgresServer | undefined, folder: string): Promise<RunDatabase> {
  if (server === undefined) return { settings: { DATA_DIR: folder }, remove: async () => undefined };
  const name = 'bench_import';
  await server.drop(name);
  await server.create(name);
  return {
    settings: { DATA_DIR: folder, DATABASE_URL: server.url(name) },
    remove: () => server.drop(name),
  };
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
async function command(parameters: readonly string[], settings: Readonly<Record<string, string>>) {
  const began = performance.now();
  const child = Bun.spawn([process.execPath, 'src/main.ts', ...parameters], {
    cwd: root,
    env: { PATH: process.env.PATH, ...shipped, ...settings },
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
