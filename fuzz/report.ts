/** The statuses that a run has seen, counted per operation, and the failures that it has found. */
import type { Operation } from '../test/support/http/contract.ts';
import type { WireResponse } from './wire.ts';

export interface Counts {
  count(operation: string, response: WireResponse | undefined): void;
  fail(description: string): void;
  readonly failures: readonly string[];
  readonly requests: () => number;
  /** A table of the operations, with the number of requests and the statuses of their responses. */
  table(): string;
}

export function createCounts(operations: readonly Operation[]): Counts {
  const statuses = new Map<string, Map<number, number>>(
    operations.map(({ operationId }) => [operationId, new Map<number, number>()]),
  );
  const failures: string[] = [];
  let slowest = 0;
  const sum = (counts: ReadonlyMap<number, number>) =>
    [...counts.values()].reduce((total, count) => total + count, 0);
  const requests = () => [...statuses.values()].reduce((total, counts) => total + sum(counts), 0);
  return {
    count(operation, response) {
      const counts = statuses.get(operation) ?? new Map<number, number>();
      statuses.set(operation, counts);
      const status = response?.status ?? 0;
      counts.set(status, (counts.get(status) ?? 0) + 1);
      slowest = Math.max(slowest, response?.milliseconds ?? 0);
    },
    fail: description => {
      failures.push(description);
    },
    failures,
    requests,
    table() {
      const width = Math.max(...[...statuses.keys()].map(name => name.length));
      const rows = [...statuses].map(([name, counts]) => {
        const seen = [...counts]
          .sort(([a], [b]) => a - b)
          .map(([status, count]) => `${status || 'none'}×${count}`);
        return `${name.padEnd(width)} ${String(sum(counts)).padStart(6)}  ${seen.join(' ')}`;
      });
      const succeeded = operations.filter(({ operationId }) =>
        [...(statuses.get(operationId)?.keys() ?? [])].some(status => status >= 200 && status < 300),
      ).length;
      const covered = `${succeeded} of ${operations.length} operations gave a success as well; slowest response ${Math.round(slowest)} ms`;
      return [...rows, covered].join('\n');
    },
  };
}
