/** An import into PostgreSQL whose process is stopped in a transaction until the server ends the transaction. */
import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import { expectExactTotals, records } from '../../cli/import/large-imports.ts';
import { createPlace, productsOf, waitFor } from '../../cli/program.ts';
import { hasPostgres } from '../../support/service/postgres.ts';

/** A session of the import, as the server shows it. */
interface Session {
  readonly pid: number;
  readonly state: string;
  /** The event that the session waits for. */
  readonly wait: string | null;
}

const findSessions = async (admin: SQL): Promise<readonly Session[]> =>
  // Boundary to the driver: the columns of the statement.
  (await admin`select pid, state, wait_event as wait from pg_stat_activity
    where datname = current_database() and application_name like 'catalog load %'`) as Session[];

/**
 * Whether the server ends the session of a stopped process. It does not while a COMMIT or COPY is under way, because
 * that is no silence between two statements.
 */
async function isEnded(pid: number, admin: SQL): Promise<boolean> {
  for (;;) {
    const session = (await findSessions(admin)).find(one => one.pid === pid);
    if (session === undefined) return true;
    if (session.state === 'idle' || (session.state === 'active' && session.wait === 'ClientRead'))
      return false;
  }
}

/**
 * The number of sessions that the server must end. It ends those stopped between two statements, when the import waits
 * for no response. All may hit the same transaction, which begins at most four times.
 */
const standstills = 3;

test.skipIf(!hasPostgres)(
  'an import that stood still runs its transaction again and continues',
  async () => {
    const place = await createPlace('postgresql');
    const admin = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
    const child = place.start(['import', '-', '--format', 'ndjson', '--batch', '2000']);
    let given = 0;
    const give = (count: number) => {
      child.stdin.write(records(count, true, given));
      given += count;
    };
    give(5000);
    // The migrations before the import may be silent.
    await waitFor(child.stderr, /records done/);
    for (let ended = 0; ended < standstills && child.exitCode === null; ) {
      // There must always be something to import.
      give(10);
      const session = (await findSessions(admin)).find(({ state }) => state === 'idle in transaction');
      if (session === undefined) continue;
      child.kill('SIGSTOP');
      if (await isEnded(session.pid, admin)) ended += 1;
      child.kill('SIGCONT');
    }
    await child.stdin.end();
    await waitFor(child.stderr, /read [\d,]+ rows/);
    expect(await child.exited).toBe(0);
    const count = given.toLocaleString('en');
    expect(await child.stdout.text()).toContain(`${count} created, 0 updated, 0 unchanged, 0 rejected`);
    const skus = (await productsOf(place)).map(({ sku }) => sku);
    expect(skus).toEqual(Array.from({ length: given }, (_, index) => `S-${index}`));
    await expectExactTotals(place);
    await admin.close();
    place.remove();
  },
  180_000,
);
