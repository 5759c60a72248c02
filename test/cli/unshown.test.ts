/** A command whose output cannot be written does not succeed, least of all one that shows a secret once. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCatalog, createPlace, type Ended, type Place, waitFor } from './program.ts';

let place: Place;
beforeAll(async () => {
  place = await createCatalog('sqlite');
});
afterAll(() => place.remove());

/** Runs the program with its standard output on a device that is always full. */
const onFullDisk = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];

async function runOnFullDisk(...args: string[]): Promise<Ended> {
  const child = place.start(args, onFullDisk);
  await child.stdin.end();
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, out, err };
}

const create = ['users', 'create', '--email', 'eva@shop.example', '--name', 'Eva', '--role', 'user'];
const unshown = (command: string, undo: string) =>
  `catalog ${command}: the command succeeded, but the secret could not be shown (ENOSPC: no space left on device, write): ${undo}\n`;

test('a new key that could not be shown is reported with the command that revokes it', async () => {
  const made = await runOnFullDisk('keys', 'create', '--name', 'Till', '--scopes', 'products:read');
  const undo = 'revoke the key with catalog keys revoke 1, and create another';
  expect(made).toEqual({ status: 1, out: '', err: unshown('keys', undo) });
  expect(await place.runHere(['keys', 'revoke', '1'])).toEqual({
    status: 0,
    out: 'revoked key 1\n',
    err: '',
  });
});

test('a password that could not be shown is reported with the command that sets another', async () => {
  const undo = 'set another password with catalog users set-password eva@shop.example';
  const expected = { status: 1, out: '', err: unshown('users', undo) };
  expect(await runOnFullDisk(...create)).toEqual(expected);
  expect(await runOnFullDisk('users', 'set-password', 'eva@shop.example')).toEqual(expected);
  const { status, out } = await place.runHere(['users', 'set-password', 'eva@shop.example']);
  expect([status, out]).toEqual([0, expect.stringContaining('password, shown this once: ')]);
});

test('a first start whose password could not be shown logs the command that sets another', async () => {
  const unread = await createPlace('sqlite', { HOST: '127.0.0.1' });
  const child = unread.start(['serve', '--port', '0'], ['sh', '-c', 'exec "$@" 2> /dev/full', 'sh']);
  const advice =
    /the password of the first administrator could not be shown; set another with catalog (users set-password \S+)"/;
  const [, command = ''] = await waitFor(child.stdout, advice);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  const { status, out } = await unread.runHere(command.split(' '));
  expect([status, out]).toEqual([0, expect.stringContaining('password, shown this once: ')]);
  unread.remove();
});

const shown = [['--help'], ['--version'], ['keys', '--help'], ['users', 'list'], ['keys', 'list']];

test.each(shown.map(args => [args] as const))('%j fails when its output cannot be written', async args => {
  const { status, err } = await runOnFullDisk(...args);
  expect(status).toBe(1);
  expect(err).toMatch(/^catalog[ a-z]*: ENOSPC: no space left on device, write\n$/);
});

test('a summary of an import that cannot be written is in the error message', async () => {
  const { status, err } = await runOnFullDisk('import', place.file('p.csv', 'sku,name,price\nA,Lamp,5\n'));
  expect(status).toBe(1);
  expect(err).toContain(
    'catalog import: the summary could not be written (ENOSPC: no space left on device, write): 1 created, 0 updated',
  );
});
