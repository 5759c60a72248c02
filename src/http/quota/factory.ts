/** The quotas and delays of one process, or of the many that share a database. */
import type { Clock } from '../../ports/clock.ts';
import type { Database } from '../../storage/database.ts';
import { type Delays, growingDelays } from './delays.ts';
import { memoryCounters, sharedCounters } from './failures.ts';
import { memoryQuota, type QuotaFactory } from './index.ts';
import { sharedQuota } from './shared.ts';

export interface Limits {
  readonly createQuota: QuotaFactory;
  readonly delays: Delays;
}

/** @param shared where all replicas count together; undefined for a process that is alone */
export function createLimits(clock: Clock, shared?: Database): Limits {
  return {
    createQuota: (name, limit, window, options) =>
      shared === undefined
        ? memoryQuota(limit, window, clock)
        : sharedQuota({ ...options, name, limit, window, clock, database: shared }),
    delays: growingDelays(shared === undefined ? memoryCounters() : sharedCounters(shared), clock),
  };
}
