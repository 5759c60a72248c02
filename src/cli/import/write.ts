/** How an import writes: its transactions, its manners towards a running service, and its indexes. */
import { fullGC } from 'bun:jsc';
import type { Config } from '../../config.ts';
import { causedBy, outboxOf } from '../../events/outbox.ts';
import { type Look, productImporter } from '../../resources/products/import/index.ts';
import type { ImportCounts } from '../../resources/products/import/plan.ts';
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import { type Database, StorageError } from '../../storage/database.ts';
import { checkDataFolder, embeddedFile } from '../../storage/open.ts';
import { deferIndexes, restoreIndexes } from '../../storage/sqlite/deferred-indexes.ts';
import { leaveLog } from '../../storage/sqlite/journal-mode.ts';
import { productTotals } from '../../storage/totals.ts';
import { grouped } from './report.ts';
import type { BatchWriter } from './run.ts';

/** Others wait for their turn to write by asking every few milliseconds: this long an SQLite file is left to them. */
const turnMs = 6;
/** How often who starts meanwhile gets a turn, when nobody else had the file. */
const turnEveryMs = 1000;
const uniqueAttempts = 5;
/** Records after which the heap is collected: left to itself it grows to several times what a batch needs. */
const collectEvery = 30_000;

/** Writes batches, each in a transaction of its own. */
export async function databaseWriter(database: Database, indexes: IndexDeferral): Promise<BatchWriter> {
  const importer = productImporter(database, outboxOf(database));
  const existing = (await productTotals(database).total(database.read, [])) ?? 0;
  let created = 0;
  let lastEnd = 0;
  let lastTurn = performance.now();
  let sinceCollection = 0;
  const leaveTurn = async () => {
    if (!database.hasWriteContention() && performance.now() - lastTurn < turnEveryMs) return;
    const rest = lastEnd + turnMs - performance.now();
    if (rest > 0) await Bun.sleep(rest);
    lastTurn = performance.now();
  };
  const looks = skuLooks();
  const write = (records: readonly PreparedRecord[], newWords: readonly string[]) =>
    database.write(async session => {
      const plan = await importer.plan(session, records, looks.next());
      await importer.apply(session, plan, newWords, causedBy('import', Date.now()));
      return plan.counts;
    });
  return async (records, newWords) => {
    await leaveTurn();
    for (let attempt = 1; ; attempt++) {
      try {
        const counts = await write(records, newWords);
        looks.written(counts);
        created += counts.created;
        indexes.note(created, existing);
        sinceCollection += records.length;
        if (sinceCollection >= collectEvery) {
          sinceCollection = 0;
          fullGC();
        }
        return counts;
      } catch (error) {
        // A product has one of the skus, perhaps since just now: the next plan finds it.
        const taken = error instanceof StorageError && error.kind === 'unique';
        if (!taken || attempt >= uniqueAttempts) throw error;
        looks.failed();
      } finally {
        lastEnd = performance.now();
      }
    }
  };
}

/**
 * Whether a batch looks for products with its skus: a blind one, which fails when there are any, costs a tenth
 * less. After a batch that met none the next is blind; each that fails makes it wait for more such batches.
 */
function skuLooks() {
  let [withoutAny, wanted] = [0, 1];
  return {
    next: (): Look => (withoutAny < wanted ? 'lock' : 'blind'),
    written({ updated, unchanged }: ImportCounts): void {
      withoutAny = updated + unchanged > 0 ? 0 : withoutAny + 1;
    },
    failed(): void {
      withoutAny = 0;
      wanted *= 4;
    },
  };
}

export interface IndexDeferral {
  /** Whether nobody else has the database open; it goes without a log until somebody has. */
  readonly alone: boolean;
  /** Puts the indexes aside once enough products are new; a small import never pays for building them. */
  note(created: number, existing: number): void;
  /** Builds what was put aside. */
  restore(): void;
}

/** Should it fail, whoever opens the file next does it: no reason to fail, and none to hide why the import has. */
function resumeLog(file: string): void {
  try {
    restoreIndexes(file, true);
  } catch (error) {
    console.error(`catalog import: ${error instanceof Error ? error.message : error}`);
  }
}

/** New products from which on building the indexes anew costs less than keeping them, if also a tenth of all. */
const manyCreated = 5000;

/**
 * Only for an SQLite file that nobody else has open: a running service needs its indexes. (One that starts
 * during the import builds them itself, and the import goes on with them.) To be made before the database is
 * opened: its own connections would count as others.
 */
export function indexDeferral(config: Config): IndexDeferral {
  if (config.DATABASE_URL !== undefined) {
    return { alone: false, note: () => undefined, restore: () => undefined };
  }
  checkDataFolder(config);
  const file = embeddedFile(config);
  // What an import that was killed has left behind.
  restoreIndexes(file);
  const alone = leaveLog(file);
  let deferred = false;
  return {
    alone,
    note(created, existing) {
      if (deferred || !alone || created < Math.max(manyCreated, existing / 10)) return;
      deferIndexes(file, ['products', 'events']);
      deferred = true;
    },
    restore() {
      if (!deferred) {
        if (alone) resumeLog(file);
        return;
      }
      const started = performance.now();
      // What the import has left on the heap is given back before sorting takes its share.
      Bun.gc(true);
      const built = restoreIndexes(file, alone);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.error(`catalog import: built ${grouped(built)} indexes in ${seconds} s`);
    },
  };
}
