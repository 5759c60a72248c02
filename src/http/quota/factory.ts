/** The quotas and delays of one process, or of several that share a database. */
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

/** @param shared the database in which all replicas count; undefined for a single process */
export function createLimits(clock: Clock, shared?: Database): Limits {
  return {
    createQuota: (name, limit, window, options) => ({
      name,
      ...(shared === undefined
        ? createMemoryQuota(limit, window, clock)
        : createSharedQuota({ ...options, name, limit, window, clock, database: shared })),
    }),
    delays: createGrowingDelays(
      shared === undefined ? createMemoryCounters() : createSharedCounters(shared),
      clock,
    ),
  };
}
