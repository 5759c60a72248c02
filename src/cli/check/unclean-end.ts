/** Checks the embedded database when the service starts after a kill or a loss of power. */
import { statSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { describeError, type Log } from '../../operations/log.ts';
import { createSqliteBuilder } from '../../storage/builder.ts';
import { getEmbeddedFile } from '../../storage/open.ts';
import { sqliteChecks } from '../../storage/sqlite/files/checks.ts';
import { createBackgroundReader } from '../../storage/sqlite/threads/reader.ts';

/**
 * Whether the embedded database was left open: the last process to close it removes its log. Must be called before the
 * database is opened. Always false with PostgreSQL, which recovers by itself.
 */
export function hasEndedUncleanly(config: Config): boolean {
  if (config.DATABASE_URL !== undefined) return false;
  const readSize = (suffix: string) =>
    statSync(`${getEmbeddedFile(config)}${suffix}`, { throwIfNoEntry: false })?.size ?? 0;
  return readSize('-wal') > 0 || readSize('-journal') > 0;
}

/**
 * Reads the whole database file in a separate thread while the service runs, and logs what it finds.
 * Never rejects.
 */
export async function checkAfterUncleanEnd(config: Config, log: Log): Promise<void> {
  const file = getEmbeddedFile(config);
  log.warn('the database was not closed cleanly (or another process has it open); checking it', {
    file,
  });
  const reader = createBackgroundReader(file);
  const start = performance.now();
  try {
    const found = await reader.snapshot(session => sqliteChecks.damage(session, createSqliteBuilder(), true));
    const seconds = Math.round(performance.now() - start) / 1000;
    if (found.length === 0) log.info('the database is intact', { seconds });
    else
      log.error('the database is damaged: run catalog check for details, then restore a backup', {
        seconds,
        found,
      });
  } catch (error) {
    log.error('the database could not be checked: run catalog check', describeError(error));
  } finally {
    await reader.close();
  }
}
