/** Runs in each process before its first file. */
import { afterAll, beforeEach, expect, setDefaultTimeout } from 'bun:test';
import fc from 'fast-check';
import { createThreadPlugin } from '../../../scripts/tests/program.ts';
import { minWork } from '../data/sign-in.ts';
import { dropDatabases } from './postgres.ts';
import { endRunning } from './running.ts';
import { removeTemplates } from './template.ts';

// Hashing a password takes 70 ms of processor time, on purpose, and a run does so thousands of times. Here Bun's
// function, which the service calls with its own parameters, does less work. Services in processes of their own do the
// full work, and test/cli/accounts.slow.test.ts checks what they store.
const derive = Bun.password.hash;
Bun.password.hash = secret => derive(secret, minWork);

// Compiling the files of a thread takes longer than most threads live.
const program = process.env.TEST_PROGRAM;
if (program !== undefined) Bun.plugin(createThreadPlugin(program));

// A test that checks nothing cannot fail.
beforeEach(() => expect.hasAssertions());
// Some tests start processes, and on a busy machine a test of a second has taken half a minute.
setDefaultTimeout(60_000);
// In CI the inputs of properties are the same each time, so that a change cannot fail because of an earlier defect
// that is found by chance. Elsewhere each run draws its own inputs, and a failing property prints its seed.
const seed = process.env.PROPERTY_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
// In a run of several processes, afterAll runs after each file: the next files copy the same templates, and
// scripts/tests/run.ts removes them.
if (process.env.TEST_RUN === undefined) afterAll(removeTemplates);
afterAll(endRunning);
afterAll(dropDatabases);
