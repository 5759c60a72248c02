/** `catalog check`: verifies that the database is intact and that derived data agrees with its source. */
import { getErrorMessage } from '../../error-text.ts';
import { isDamage } from '../../storage/damage.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { runWithDatabase } from '../database.ts';
import { escapeUnprintable } from '../terminal/printable.ts';
import { type Command, parse } from '../usage.ts';
import type { Check } from './check.ts';
import { createChecks } from './parts.ts';

export const command: Command = {
  help: `Usage: catalog check [--repair]

Reads the whole database and says, one line each, what is wrong with it: damaged pages and indexes, rows that refer to
what is not there, paths of categories, totals and ratings that are not what is counted, numbers of invoices, stock that
is not reserved by open orders, what products show of their variants, documents and tags that differ from their rows,
words of the search index. Changes nothing; the service may run. On PostgreSQL it reads every value; for its indexes and
pages there are pg_amcheck and pg_checksums.

  --repair  rebuilds what is derived (indexes, totals, ratings, reserved stock, columns of variants, what products show
            of them, tags, the search index), and what follows from that, in one transaction. All other writes wait:
            stop the service, or do it when there is little traffic. Rows are not made up: what is damaged itself has to
            come from a backup (catalog restore).

Exit status: 0 all is well, or is now; 1 something is wrong; 2 the command line is wrong.`,

  async run(args) {
    const { values } = parse(args, { repair: { type: 'boolean' } });
    return runWithDatabase(async database => {
      const checks = createChecks(database);
      const wrong = await findAll(database, checks);
      const total = [...wrong.values()].reduce((sum, lines) => sum + lines.length, 0);
      for (const [{ name }, lines] of wrong) report(name, lines);
      const all = checks.map(({ name }) => name).join(', ');
      if (total === 0) console.log(`nothing is wrong; checked: ${all}`);
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
    ? 'catalog check --repair fixes what is derived'
    : 'none of it can be rebuilt: restore a backup, or fix the rows by hand';
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
  const { build, dialect } = database;
  try {
    return await database.snapshot(async session => {
      for (const statement of dialect.checks.allowLongStatements) await session.run(statement.compile(build));
      return check.find(session);
    });
  } catch (error) {
    if (isDamage(error)) return [`cannot be read: ${error.message}`];
    throw error;
  }
}

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
      left.push(...(await check.find(session)).map(line => `${check.name}: ${line}`));
    }
    return left;
  };
  let left: string[];
  try {
    left = await database.exclusively(repair);
  } catch (error) {
    const message = `nothing was repaired: ${getErrorMessage(error)}. Restore a backup (catalog restore)`;
    throw new Error(message, { cause: error });
  }
  const fixed = repaired.filter(({ name }) => !left.some(line => line.startsWith(`${name}: `)));
  for (const { name } of fixed) console.log(`${name}: repaired`);
  if (left.length > 0) console.log(`${left.length} still wrong: restore a backup, or fix the rows by hand`);
  return left.length === 0 ? 0 : 1;
}
