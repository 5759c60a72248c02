/** `catalog import` of synthetic files: products/s of a single process, and its memory. */

import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { commandEnvironments } from '../scripts/install.mjs';
import { formatCsvHeader, formatCsvRow } from '../src/files/write.ts';
import type { ProductFields } from '../src/resources/products/schema.ts';
import { productNumber } from './data/catalog-data.ts';
import { markdownTable, thousands } from './report/statistics.ts';
import { type DatabaseKind, type RunDatabase, runFolder } from './servers/databases.ts';
import type { PostgresServer } from './servers/postgres.ts';
import { residentMiB } from './servers/processes.ts';
import { shipped } from './servers/servers.ts';

const root = join(import.meta.dir, '..');
const fields = ['sku', 'name', 'price', 'currency', 'description', 'category', 'tags', 'status'] as const;
const rowsPerWrite = 5000;
const sampleMs = 50;

/** The CPU time of a database's own processes is read after this pause, so that they can end. */
const restMs = 500;

interface File {
  readonly what: string;
  readonly path: string;
  readonly records: number;
}

/**
 * A product with words that no other product has, as in real shops; the benchmark's products lack those.
 * @param salt gives the same product other words
 */
function wordyProduct(number: number, salt: string): ProductFields {
  const { fields } = productNumber(number);
  const words = Array.from({ length: 3 }, (_, index) => wordOf(`${salt}${number}.${index}`));
  return { ...fields, name: `${fields.name} ${words.join(' ')}` };
}

/** A word of eleven to fourteen letters. */
function wordOf(seed: string): string {
  const digits = Bun.hash(seed).toString(26).padStart(11, '0');
  return [...digits].map(digit => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('');
}

/** @returns a table in Markdown */
export async function measureImport(
  records: number,
  kinds: readonly DatabaseKind[],
  postgres: PostgresServer | undefined,
): Promise<string> {
  const folder = runFolder();
  try {
    const few = Math.ceil(records / 10);
    const write = async (what: string, count: number, of: (number: number) => ProductFields) => {
      const path = join(folder, `${what.replaceAll(' ', '-')}.csv`);
      await writeCsv(path, count, of);
      return { what, path, records: count };
    };
    const plain = await write('new products', records, number => productNumber(number).fields);
    const wordy = await write('words of their own', few, number => wordyProduct(number, 'a'));
    const renamed = await write('other names', few, number => wordyProduct(number, 'b'));
    const unchanged = { ...renamed, what: 'nothing changed' };
    const rows: string[][] = [];
    for (const kind of kinds) {
      const server = kind === 'postgresql' ? postgres : undefined;
      for (const files of [[plain], [wordy, renamed, unchanged]]) {
        rows.push(...(await importAll(files, server, folder)));
      }
    }
    const header = [
      ...['database', 'file', 'products', 'file MiB', 'seconds', 'products/s'],
      ...['CPU µs', 'database µs', 'peak MiB'],
    ];
    return markdownTable([header, ...rows]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Imports the files one after the other into an empty database. @returns a row of the table for each */
async function importAll(
  files: readonly File[],
  server: PostgresServer | undefined,
  folder: string,
): Promise<string[][]> {
  const { settings, remove } = await emptyDatabase(server, folder);
  const rows: string[][] = [];
  await command(['migrate'], settings);
  for (const { what, path, records } of files) {
    const before = server?.cpuSeconds() ?? 0;
    const { seconds, cpuSeconds, peakMiB } = await command(['import', path], settings);
    await Bun.sleep(restMs);
    const perProduct = (spent: number) => ((spent / records) * 1_000_000).toFixed(1);
    rows.push([
      ...[server === undefined ? 'sqlite' : 'postgresql', what],
      thousands(records),
      thousands(statSync(path).size / 1_048_576),
      seconds.toFixed(1),
      thousands(records / seconds),
      perProduct(cpuSeconds),
      server === undefined ? '–' : perProduct((server.cpuSeconds() ?? 0) - before),
      peakMiB.toFixed(0),
    ]);
  }
  await remove();
  return rows;
}

async function emptyDatabase(server: PostgresServer | undefined, folder: string): Promise<RunDatabase> {
  if (server === undefined) {
    const data = mkdtempSync(join(folder, 'data-'));
    return { settings: { DATA_DIR: data }, remove: async () => rmSync(data, { recursive: true }) };
  }
  const name = 'bench_import';
  await server.drop(name);
  await server.create(name);
  return {
    settings: { DATA_DIR: folder, DATABASE_URL: server.url(name) },
    remove: () => server.drop(name),
  };
}

async function writeCsv(file: string, records: number, of: (number: number) => ProductFields): Promise<void> {
  const output = createWriteStream(file);
  output.write(formatCsvHeader(fields));
  for (let first = 1; first <= records; first += rowsPerWrite) {
    let text = '';
    for (let number = first; number < first + rowsPerWrite && number <= records; number++) {
      text += formatCsvRow(fields, of(number));
    }
    if (!output.write(text)) await once(output, 'drain');
  }
  output.end();
  await once(output, 'close');
}

/** Runs a command of the service to its end. */
async function command(parameters: readonly string[], settings: Readonly<Record<string, string>>) {
  const began = performance.now();
  const own = parameters[0] === 'import' ? commandEnvironments.import : {};
  const child = Bun.spawn([process.execPath, 'src/main.ts', ...parameters], {
    cwd: root,
    env: { PATH: process.env.PATH, ...own, ...shipped, ...settings },
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
