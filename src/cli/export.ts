/** `catalog export`: all products, from one state of the catalog, to a file or standard output. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { type CompiledQuery, sql } from 'kysely';
import { productFields } from '../files/map.ts';
import { csvHeader, csvRow } from '../files/write.ts';
import { productJson, productOf, type StoredProduct } from '../resources/products/row.ts';
import { statuses } from '../resources/products/schema.ts';
import { requireWhole } from '../storage/damage.ts';
import type { Database } from '../storage/database.ts';
import { prepared } from '../storage/prepared.ts';
import { withDatabase } from './database.ts';
import { grouped } from './import/report.ts';
import { type Command, choiceOption, parse, safeOption } from './usage.ts';

const help = `Usage: catalog export [OPTIONS]

Writes all products, ordered by id, as they are at one moment; the service may be running meanwhile.

  --format FORMAT      csv or ndjson (csv; by the name of FILE when it ends in .ndjson or .jsonl)
  --output FILE|-      where to; - is standard output, and the default. A file appears under its name when it
                       is whole, and replaces what was there
  --status STATUS      only products of this status: active or archived
  --category CATEGORY  only products of this category
  --no-safe-for-spreadsheets
                       writes the cells of a CSV as they are. Without it (--safe-for-spreadsheets) an apostrophe
                       stands before text that a spreadsheet would evaluate: what begins with = + - @, a tab or a
                       line end, also after a semicolon, tab or line end inside a cell

catalog import reads both formats; id, createdAt, updatedAt and rating are for other readers, import leaves
them out, and takes the apostrophes back. NDJSON has everything, CSV all but the rating. In CSV an empty cell
stands for no value, so an empty description comes back as none, and a product without currency gets the
default one.

Exit status: 0 done; 1 the export failed, and no file was written.`;

const columns = ['id', ...productFields, 'createdAt', 'updatedAt'];
const batchRows = 500;

type Format = 'csv' | 'ndjson';

interface Filter {
  readonly status: string | undefined;
  readonly category: string | undefined;
}

interface Output {
  write(text: string): Promise<void>;
  /** Makes what was written durable and visible. */
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

export const exportCommand: Command = {
  help,
  async run(args) {
    const { values } = parse(args, {
      format: { type: 'string' },
      output: { type: 'string' },
      status: { type: 'string' },
      category: { type: 'string' },
      'safe-for-spreadsheets': { type: 'boolean' },
    });
    const file = values.output === '-' ? undefined : values.output;
    const named: Format = /\.(ndjson|jsonl)$/i.test(file ?? '') ? 'ndjson' : 'csv';
    const format = choiceOption(values.format, '--format', ['csv', 'ndjson'] as const) ?? named;
    const lines = linesOf(format, safeOption(values['safe-for-spreadsheets'], format));
    const filter = {
      status: choiceOption(values.status, '--status', statuses),
      category: values.category,
    };
    return withDatabase(async database => {
      const output = file === undefined ? standardOutput() : await fileOutput(file);
      try {
        const count = await writeProducts(database, filter, lines, output);
        await output.finish();
        if (file !== undefined) console.error(`${grouped(count)} products written to ${file}`);
        return 0;
      } catch (error) {
        await output.abandon();
        // Anyone who reads the pipe has read enough, as head does.
        if (file === undefined && isClosedPipe(error)) return 0;
        throw error;
      }
    });
  },
};

/** How a file begins, and what it has of each product. */
interface Lines {
  readonly header: string;
  readonly line: (row: StoredProduct) => string;
}

function linesOf(format: Format, safe: boolean): Lines {
  if (format === 'ndjson') return { header: '', line: row => `${requireWhole(productJson(row))}\n` };
  return { header: csvHeader(columns), line: row => csvRow(columns, productOf(row), safe) };
}

/** @returns how many products were written */
async function writeProducts(
  database: Database,
  filter: Filter,
  { header, line }: Lines,
  output: Output,
): Promise<number> {
  const page = pageQuery(database, filter);
  await output.write(header);
  return database.snapshot(async session => {
    let count = 0;
    for (let after = 0; ; ) {
      const rows = await session.all(page(after));
      const last = rows.at(-1);
      if (last === undefined) return count;
      await output.write(rows.map(line).join(''));
      count += rows.length;
      after = last.id;
    }
  });
}

function pageQuery({ build }: Database, { status, category }: Filter) {
  const query = prepared<{ after: number; status: unknown; category: unknown }, StoredProduct>(argument => ({
    compile: () =>
      sql<StoredProduct>`select id, document, updated_at from products where id > ${argument.after}
        ${status === undefined ? sql`` : sql`and status = ${argument.status}`}
        ${category === undefined ? sql`` : sql`and category = ${argument.category}`}
        order by id limit ${sql.lit(batchRows)}`.compile(build),
  }));
  return (after: number): CompiledQuery<StoredProduct> => query({ after, status, category });
}

function standardOutput(): Output {
  const sink = Bun.stdout.writer();
  return {
    async write(text) {
      // Both may fail later than they return: when the reader of the pipe has gone.
      await sink.write(text);
      await sink.flush();
    },
    finish: async () => void (await sink.end()),
    abandon: async () => undefined,
  };
}

async function fileOutput(file: string): Promise<Output> {
  const temporary = `${file}.${process.pid}.partial`;
  let handle: FileHandle;
  try {
    handle = await open(temporary, 'wx');
  } catch (error) {
    throw new Error(`cannot write ${file}: ${error instanceof Error ? error.message : error}`);
  }
  return {
    write: text => handle.writeFile(text),
    async finish() {
      await handle.sync();
      await handle.close();
      await rename(temporary, file);
    },
    async abandon() {
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
    },
  };
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
