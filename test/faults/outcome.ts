/** The result of a scenario: printed in one line, and asserted. */
import { expect } from 'bun:test';
import { appendFileSync } from 'node:fs';

const given = process.env.FAULT_ROUNDS;

/** How often a scenario is repeated: FAULT_ROUNDS times if that is set, else often enough for a meaningful result. */
export const roundsOf = (full: number): number =>
  given === undefined || given === '' ? full : Number(given);

/** Whether the run is short, as for every change: slow tests that show nothing more are left out. */
export const isShort = roundsOf(100) < 10;

export interface Scenario {
  /** The name in the table of docs/reliability.md. */
  readonly name: string;
  /** The injected fault. */
  readonly done: string;
  readonly database: string;
  readonly rounds: number;
}

export interface Evidence {
  /** What was acknowledged to clients, each under a unique name. */
  readonly acknowledged: Iterable<string | number>;
  /** What is stored afterwards, possibly including writes that were not acknowledged. */
  readonly found: Iterable<string | number>;
  /** Responses and states that are wrong. */
  readonly broken?: readonly string[];
}

/** @throws Error of the test when anything is lost, duplicated or broken: with the first few of each */
export function conclude({ name, done, database, rounds }: Scenario, evidence: Evidence): void {
  const acknowledged = new Set(evidence.acknowledged);
  const all = [...evidence.found];
  const found = new Set(all);
  const lost = [...acknowledged.difference(found)];
  const duplicate = all.length === found.size ? [] : repeated(all);
  const broken = evidence.broken ?? [];
  const numbers = [acknowledged.size, found.size, lost.length, duplicate.length, broken.length];
  const counted = ['acknowledged', 'found', 'lost', 'duplicate', 'broken'].map(
    (what, index) => `${what} ${shown(numbers[index])}`,
  );
  console.log(`${name} (${database}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}): ${counted.join(', ')}`);
  const table = process.env.FAULT_TABLE;
  if (table !== undefined) {
    const cells = [name, done, shown(rounds), ...numbers.map(shown), database];
    appendFileSync(table, `| ${cells.join(' | ')} |\n`);
  }
  expect({ lost: firstOf(lost), duplicate: firstOf(duplicate), broken: firstOf(broken) }).toEqual({
    lost: [],
    duplicate: [],
    broken: [],
  });
  // Without an acknowledged write the scenario would prove nothing.
  expect(acknowledged.size).toBeGreaterThan(0);
}

const shown = (number = 0): string => number.toLocaleString('en');
const firstOf = <T>(values: readonly T[]): T[] => values.slice(0, 5);

function repeated<T>(values: readonly T[]): T[] {
  const seen = new Set<T>();
  return values.filter(value => seen.size === seen.add(value).size);
}

/** Prints in one line why a scenario is skipped. */
export function skipped(name: string, reason: string): void {
  console.log(`skipped: ${name}: ${reason}`);
}
