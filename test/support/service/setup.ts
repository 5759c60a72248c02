/** Runs in each process before its first file. */
import { afterAll, setDefaultTimeout } from 'bun:test';
import fc from 'fast-check';
import { leastWork } from '../data/sign-in.ts';
import { dropDatabases } from './postgres.ts';
import { removeTemplates } from './template.ts';

// What the service derives from a password costs a processor 70 ms, on purpose, thousands of times in a run. The
// service decides how, Bun derives: here with less work. Services in processes of their own have the whole of it, and
// test/cli/accounts.test.ts looks at what they store.
const derive = Bun.password.hash;
Bun.password.hash = secret => derive(secret, leastWork);

// Some start processes, and on a machine that has much else to do a test of a second has taken half a minute.
setDefaultTimeout(60_000);
// In CI the inputs of properties are the same each time: a change is judged by what it changed, not by a defect that was
// there before and is found by chance. Elsewhere each run draws its own, and prints the seed of one that fails.
const seed = process.env.PROPERTY_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
// In a run of several processes this is after each file: the next ones copy the same templates, and scripts/tests/run.ts
// removes them.
if (process.env.TEST_RUN === undefined) afterAll(removeTemplates);
afterAll(dropDatabases);
