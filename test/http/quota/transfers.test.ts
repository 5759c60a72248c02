/** How many bytes of unfinished bodies are allowed: amounts that a test of the service would take seconds to build up. */
import { expect, test } from 'bun:test';
import { HttpError } from '../../../src/http/errors.ts';
import { createTransfers } from '../../../src/http/quota/transfers.ts';

const codeOf = (work: () => void): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof HttpError ? error.code : String(error);
  }
};

test('a single body may be longer than a limit, and the last quarter is for callers without a body', () => {
  const messages = { caller: 'of yours', all: 'of all' };
  const transfers = createTransfers({ maxOfCaller: 100, max: 200, messages });
  const refusalOf = (subject: string, bytes: number) => codeOf(() => transfers.requireRoom(subject, bytes));
  expect(refusalOf('one', 1000)).toBeUndefined();
  transfers.add('one', 60);
  expect([refusalOf('one', 40), refusalOf('one', 41)]).toEqual([undefined, 'RATE_LIMITED']);
  transfers.add('two', 60);
  // 120 are unfinished, and a caller with a body gets up to three quarters of 200.
  expect([refusalOf('one', 30), refusalOf('one', 31)]).toEqual([undefined, 'SERVICE_BUSY']);
  expect([refusalOf('three', 80), refusalOf('three', 81)]).toEqual([undefined, 'SERVICE_BUSY']);
  for (const subject of ['one', 'two']) transfers.add(subject, -60);
  expect(refusalOf('one', 1000)).toBeUndefined();
});
