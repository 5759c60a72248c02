/** The time from the start of the process to its first response on an existing database, and its memory when idle. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markdownTable, spread, summary } from './report/statistics.ts';
import type { RunDatabase } from './servers/databases.ts';
import { residentMiB } from './servers/processes.ts';
import { startService } from './servers/servers.ts';

const settleMs = 500;

export interface StartSubject {
  readonly name: string;
  readonly database: RunDatabase;
}

export async function measureStartup(subjects: readonly StartSubject[], starts: number): Promise<string> {
  const logs = mkdtempSync(join(tmpdir(), 'catalog-bench-logs-'));
  const times = new Map<StartSubject, number[]>(subjects.map(subject => [subject, []]));
  const memory = new Map<StartSubject, number[]>(subjects.map(subject => [subject, []]));
  // The first start of a copy is not counted, because it creates the administrator.
  for (let start = 0; start <= starts; start++) {
    for (const subject of subjects) {
      const began = performance.now();
      const server = await startService(subject.database.settings, join(logs, 'errors'));
      const took = performance.now() - began;
      await Bun.sleep(settleMs);
      if (start > 0) {
        times.get(subject)?.push(took);
        memory.get(subject)?.push(residentMiB(server.pid));
      }
      await server.stop();
    }
  }
  rmSync(logs, { recursive: true, force: true });
  const rows = subjects.map(subject => [
    subject.name,
    spread(summary(times.get(subject) ?? []), 0),
    spread(summary(memory.get(subject) ?? []), 0),
  ]);
  return markdownTable([['database', 'ms to the first response', 'idle MiB'], ...rows]);
}
