/** `catalog check`: verifies that the database is intact and that derived data agrees with its source. */
import { getErrorMessage } from '../../error-text.ts';
import { isDamage } from '../../storage/damage.ts';
import { type Database, StorageError, type Transaction } from '../../storage/database.ts';
import { isMissingRight } from '../../storage/open.ts';
import { runWithDatabase } from '../database.ts';
import { escapeUnprintable } from '../terminal/index.ts';
import { type Command, parse } from '../usage.ts';
import type { Check } from './check.ts';
import { createChecks } from './parts.ts';

export const command: Command = {
  help: `Usage: catalog check [--repair]

Reads the whole database and prints a line for each problem: damaged pages and indexes, missing indexes, keys and
references, sequences behind the ids of their rows, references to missing rows, wrong category paths, totals, ratings
and invoice numbers, reserved stock that differs from that of open orders, wrong summaries of variants on products,
documents and tags that differ from their rows, and wrong words in the search index. Changes nothing; the service may be
running. On PostgreSQL it reads every value; to check indexes and pages there, use pg_amcheck and pg_checksums.

  --repair  rebuilds derived data (indexes, sequences, paths of categories, totals, ratings, reserved stock, tags,
            attributes, columns of variants and their summaries on products, the search index), and everything that
            depends on it, in one transaction. All other writes wait: stop the service, or run it at a time of little
            traffic. It cannot reconstruct damaged rows: restore them from a backup (catalog restore).

Exit status: 0 no problems, or all were repaired; 1 problems remain; 2 the command line is wrong.`,

  async run(args) {
    const { values } = parse(args, { repair: { type: 'boolean' } });
    return runWithDatabase(async database => {
      const checks = createChecks(database);
      const wrong = await findAll(database, checks);
      const total = [...wrong.values()].reduce((sum, lines) => sum + lines.length, 0);
      for (const [{ name }, lines] of wrong) report(name, lines);
      const all = checks.map(({ name }) => name).join(', ');
      if (total === 0) console.log(`no problems found; checked: ${all}`);
      else if (values.repair === true) return await repairAll(database, checks, wrong);
      else console.log(`${total} wrong; ${formatAdvice(wrong)}`);
      return total === 0 ? 0 : 1;
    });
  },
};

type Findings = ReadonlyMap<Check, readonly string[]>;

/** At most this many lines of one check are shown. */
const shownLines = 20;

function report(name: string, lines: readonly string[]): void {
  for (const line of lines.slice(0, shownLines)) console.log(`${name}: ${escapeUnprintable(line)}`);
  if (lines.length > shownLines) console.log(`${name}: and ${lines.length - shownLines} more`);
}

function formatAdvice(wrong: Findings): string {
  return [...wrong.keys()].some(({ repair }) => repair !== undefined)
    ? 'catalog check --repair rebuilds derived data'
    : 'none of these can be rebuilt: restore a backup, or fix the rows by hand';
}

/** Runs each check in a snapshot, so that concurrent writes do not disturb it. */
async function findAll(database: Database, checks: readonly Check[]): Promise<Findings> {
  const wrong = new Map<Check, readonly string[]>();
  for (const check of checks) {
    const lines = await find(database, check);
    if (lines.length > 0) wrong.set(check, lines);
  }
  return wrong;
}

async function find(database: Database, check: Check): Promise<string[]> {
  try {
    return await database.snapshot(session => check.find(session), { unlimited: true });
  } catch (error) {
    if (isDamage(error)) return [`cannot be read: ${error.message}`];
    throw error;
  }
}

/** Whether a backup would help: not against a database that is locked, full or away, or that refuses its role. */
const isFaultOfData = (error: unknown): boolean =>
  error instanceof StorageError ? /^(damaged|unique)$/.test(error.kind) : !isMissingRight(error);

/** Repairs everything or nothing, in one transaction. @returns the exit status */
async function repairAll(database: Database, checks: readonly Check[], wrong: Findings): Promise<number> {
  const { build, dialect } = database;
  const repaired: Check[] = [];
  const repair = async (session: Transaction): Promise<string[]> => {
    for (const statement of dialect.checks.beforeRepair) await session.run(statement.compile(build));
    const left: string[] = [];
    for (const check of checks) {
      // A repair may invalidate what was right before: a product's price depends on the prices of its variants.
      const isWrong = wrong.has(check) || (repaired.length > 0 && (await check.find(session)).length > 0);
      if (!isWrong) continue;
      repaired.push(check);
      await check.repair?.(session, Date.now());
      for (const line of await check.find(session)) left.push(`${check.name}: ${line}`);
    }
    return left;
  };
  let left: string[];
  try {
    left = await database.exclusively(repair);
  } catch (error) {
    if (!isFaultOfData(error)) throw error;
    const message = `nothing was repaired: ${getErrorMessage(error)}. Restore a backup (catalog restore)`;
    throw new Error(message, { cause: error });
  }
  const fixed = repaired.filter(({ name }) => !left.some(line => line.startsWith(`${name}: `)));
  for (const { name } of fixed) console.log(`${name}: repaired`);
  if (left.length > 0) console.log(`${left.length} still wrong: restore a backup, or fix the rows by hand`);
  return left.length === 0 ? 0 : 1;
}
