/** `catalog export`: writes all products, from one snapshot of the catalog, to a file or standard output. */
import { open } from 'node:fs/promises';
import { type CompiledQuery, sql } from 'kysely';
import { getErrorCode } from '../error-text.ts';
import { maxRecordLength } from '../files/record.ts';
import { buildStoredColumns, productOf, type StoredProduct } from '../resources/products/row.ts';
import { statuses } from '../resources/products/schema.ts';
import { type StoredVariant, variantOf } from '../resources/variants/row.ts';
import { buildCategoryIds, isListed } from '../storage/categories/listed.ts';
import { getPathsBelow } from '../storage/categories/names.ts';
import type { Database, Session } from '../storage/database.ts';
import { prepareQuery } from '../storage/prepared.ts';
import { readPages } from '../turns/slices.ts';
import { runWithDatabase } from './database.ts';
import { createLines, type Exported, type ExportFormat, exportFormats } from './export-lines.ts';
import { createPartialFile, createWriteError, refuseDevice, refuseKept } from './output-file.ts';
import { escapeUnprintable, formatCount, formatQuantity } from './terminal/index.ts';
import { type Command, parse, parseChoiceOption, parseSafeOption } from './usage.ts';

const help = `Usage: catalog export [OPTIONS]

Writes all products of one moment, ordered by id. The service may be running.

  --format FORMAT      csv, ndjson or json (csv; by the name of FILE when it ends in .ndjson, .jsonl or .json)
  --output FILE|-      where to write; - is standard output, and the default. The output is written into
                       the folder FILE.PID.partial, and replaces FILE when it is complete
  --status STATUS      only products of this status: active or archived
  --category PATH      only products of the category with this path, and of the categories below it
  --no-safe-for-spreadsheets
                       writes CSV cells unchanged. Without it (--safe-for-spreadsheets) an apostrophe precedes
                       text that a spreadsheet would evaluate: text that begins with = + - @, a tab or a line end,
                       also after a semicolon, tab or line end inside a cell

catalog import reads all formats, and importing an export into the same catalog changes nothing: id and createdAt
together identify a product with neither sku nor externalId, nor a variant with a sku. Another catalog creates such a
product each time; standard error reports their number, and that of products longer than 8 MiB, which an import rejects.
updatedAt, rating and derived values are for other readers: import ignores them, and removes the apostrophes. NDJSON and
JSON contain each product as the service shows it, with its variants in variants, and its own price, which applies to
variants without one, in basePrice. CSV has a column for each attribute (attributes.colour), ordered by key; those
beyond 400 share the column attributes. A weight has two columns (weight.value, weight.unit). Cells of attributes,
options, variants, and images with a text hold JSON; an import creates the attributes in the order of their columns. In
CSV an empty cell means no value: an empty description is imported as none, and a product without currency gets the
default one.

Exit status: 0 done; 1 the export failed, and no file was written; 2 the command line is wrong. A signal that ends
the export (SIGTERM, SIGINT, SIGHUP) leaves no file either.`;

const batchRows = 500;
/** Text is written out whenever it reaches this many characters. */
const maxWrite = 1024 * 1024;

interface Filter {
  readonly status: string | undefined;
  readonly category: string | undefined;
}

interface Output {
  write(text: string): Promise<void>;
  /** Makes the output durable and visible. */
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

export const command: Command = {
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
    const format = parseChoiceOption(values.format, '--format', exportFormats) ?? detectFormat(file ?? '');
    const safe = parseSafeOption(values['safe-for-spreadsheets'], format);
    const filter = {
      status: parseChoiceOption(values.status, '--status', statuses),
      category: values.category,
    };
    return runWithDatabase(async (database, config) => {
      if (file !== undefined) {
        refuseKept(file, config);
        refuseDevice(file);
      }
      await requireCategory(database, values.category);
      const output = file === undefined ? createStandardOutput() : await createFileOutput(file);
      try {
        const { count, unnamed, tooLong } = await writeProducts(database, filter, { format, safe }, output);
        await output.finish();
        if (file !== undefined)
          console.error(`${formatQuantity(count, 'product')} written to ${escapeUnprintable(file)}`);
        if (unnamed > 0) console.error(describeUnnamed(unnamed, count));
        if (tooLong > 0) console.error(describeTooLong(tooLong, count));
        return 0;
      } catch (error) {
        await output.abandon();
        // The reader of the pipe has read enough, as head does.
        if (file === undefined && getErrorCode(error) === 'EPIPE') return 0;
        throw error;
      }
    });
  },
};

/** @throws Error when there is no such category: otherwise an empty file would replace a full one */
async function requireCategory({ build, read }: Database, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const { low, high } = getPathsBelow(path);
  const found = buildCategoryIds([{ path: sql`${path}`, low: sql`${low}`, high: sql`${high}` }]);
  if ((await read.first(sql`${found} limit 1`.compile(build))) === undefined)
    throw new Error(`--category: there is no category "${path}"`);
}

function describeUnnamed(unnamed: number, count: number): string {
  const [have, them] = unnamed === 1 ? ['has', 'it'] : ['have', 'them'];
  return (
    `${formatCount(unnamed)} of ${formatQuantity(count, 'product')} ${have} neither sku nor externalId, nor a variant ` +
    `with a sku: another catalog creates ${them} each time it imports this export`
  );
}

const describeTooLong = (tooLong: number, count: number): string =>
  `${formatCount(tooLong)} of ${formatQuantity(count, 'product')} ${tooLong === 1 ? 'is' : 'are'} longer than 8 MiB, ` +
  'the most that an import reads; catalog copy and catalog backup take such products along';

/** Whether an import refuses the text of a product: it limits UTF-16 units, and unless the file is JSON bytes per line. */
const isTooLong = (text: string, format: ExportFormat): boolean =>
  text.length > maxRecordLength ||
  // No character has more than three bytes per UTF-16 unit.
  (format !== 'json' &&
    text.length > maxRecordLength / 3 &&
    text.split('\n').some(line => Buffer.byteLength(line) > maxRecordLength));

/** Whether only an import into the same catalog could match the product, by its id and creation time. */
const isUnnamed = ({ product, variants }: Exported): boolean =>
  product.sku === null && product.externalId === null && variants.every(({ sku }) => sku === null);

function detectFormat(file: string): ExportFormat {
  if (/\.(?:ndjson|jsonl)$/i.test(file)) return 'ndjson';
  return /\.json$/i.test(file) ? 'json' : 'csv';
}

interface ExportedRow extends StoredProduct {
  readonly base_price: number | null;
}

interface Form {
  readonly format: ExportFormat;
  readonly safe: boolean;
}

/** @returns how many products were written, how many another catalog cannot match, and how many none can read */
async function writeProducts(
  database: Database,
  filter: Filter,
  { format, safe }: Form,
  output: Output,
): Promise<{ readonly count: number; readonly unnamed: number; readonly tooLong: number }> {
  const page = preparePageQuery(database, filter);
  const exportedOf = createProductReader(database);
  return database.snapshot(async session => {
    const readRowPages = () => readPages<ExportedRow>(last => session.all(page(last?.id ?? 0)));
    // The header needs the keys of all attributes, so CSV reads the products twice.
    const keys = new Set<string>();
    if (format === 'csv') {
      for await (const rows of readRowPages())
        for (const row of rows) for (const key of Object.keys(productOf(row).attributes)) keys.add(key);
    }
    const { header, line, footer } = createLines(format, [...keys].sort(), safe);
    await output.write(header);
    let [count, unnamed, tooLong] = [0, 0, 0];
    for await (const rows of readRowPages()) {
      let text = '';
      for (const row of rows) {
        const exported = await exportedOf(session, row);
        const own = line(exported, count);
        text += own;
        if (isTooLong(own, format)) tooLong += 1;
        count += 1;
        if (isUnnamed(exported)) unnamed += 1;
        if (text.length < maxWrite) continue;
        await output.write(text);
        text = '';
      }
      await output.write(text);
    }
    await output.write(footer);
    return { count, unnamed, tooLong };
  });
}

/** Reads variants one product at a time: each product may have ten thousand. */
function createProductReader({ build }: Database) {
  const query = prepareQuery<{ id: number }, StoredVariant>(
    build,
    argument => sql`select id, document, updated_at from product_variants
        where product_id = ${argument.id} order by position, id`,
  );
  return async (session: Session, row: ExportedRow): Promise<Exported> => {
    const product = productOf(row);
    if (product.variantCount === 0) return { product, basePrice: undefined, variants: [] };
    const variants = (await session.all(query({ id: row.id }))).map(variantOf);
    return { product, basePrice: row.base_price ?? undefined, variants };
  };
}

function preparePageQuery({ build, dialect }: Database, { status, category }: Filter) {
  const { low, high } = getPathsBelow(category ?? '');
  const query = prepareQuery<
    { after: number; status: unknown; category: unknown; low: string; high: string },
    ExportedRow
  >(
    build,
    argument => sql`select ${buildStoredColumns(dialect)}, base_price from products where id > ${argument.after}
        ${status === undefined ? sql`` : sql`and status = ${argument.status}`}
        ${category === undefined ? sql`` : sql`and ${isListed(buildCategoryIds([{ path: argument.category, low: argument.low, high: argument.high }]), true)}`}
        order by id limit ${sql.lit(batchRows)}`,
  );
  return (after: number): CompiledQuery<ExportedRow> => query({ after, status, category, low, high });
}

function createStandardOutput(): Output {
  const sink = Bun.stdout.writer();
  return {
    async write(text) {
      // Both can fail after they have returned, when the reader of the pipe has gone.
      await sink.write(text);
      await sink.flush();
    },
    finish: async () => void (await sink.end()),
    abandon: async () => undefined,
  };
}

async function createFileOutput(file: string): Promise<Output> {
  const partial = createPartialFile(file, 'export');
  const refuse = (error: unknown): never => {
    throw createWriteError(file, error);
  };
  const handle = await open(partial.path, 'wx').catch(error => {
    partial.remove();
    return refuse(error);
  });
  return {
    write: text => handle.writeFile(text).catch(refuse),
    async finish() {
      await handle.sync().catch(refuse);
      await handle.close();
      partial.finish();
      partial.remove();
    },
    async abandon() {
      await handle.close().catch(() => undefined);
      partial.remove();
    },
  };
}
