/** Runs once around the whole test run. */
import { afterAll, setDefaultTimeout } from 'bun:test';
import { stopPostgres } from './postgres.ts';

setDefaultTimeout(30_000);
afterAll(stopPostgres);
