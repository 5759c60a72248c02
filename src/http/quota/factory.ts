/** The quotas and delays of one process, or of the many that share a database. */
import type { Clock } from '../../ports/clock.ts';
import type { Database } from '../../storage/database.ts';
import { createGrowingDelays, type Delays } from './delays.ts';
import { createMemoryCounters, createSharedCounters } from './failures.ts';
import { createMemoryQuota, type QuotaFactory } from './index.ts';
import { createSharedQuota } from './shared.ts';

export interface Limits {
  readonly createQuota: QuotaFactory;
  readonly delays: Delays;
}

/** @param shared where all replicas count together; undefined for a process that is alone */
export function createLimits(clock: Clock, shared?: Database): Limits {
  return {
    createQuota: (name, limit, window, options) =>
      shared === undefined
        ? createMemoryQuota(limit, window, clock)
        : createSharedQuota({ ...options, name, limit, window, clock, database: shared }),
    delays: createGrowingDelays(
      shared === undefined ? createMemoryCounters() : createSharedCounters(shared),
      clock,
    ),
  };
}
