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

const unreported =
  'the command succeeded, but its output could not be written (ENOSPC: no space left on device, write)';

test('a new key that could not be shown is reported with the command that revokes it', async () => {
  const made = await runOnFullDisk('keys', 'create', '--name', 'Till', '--scopes', 'products:read');
  const undo = 'revoke the key with catalog keys revoke 1, and create another';
  expect(made).toEqual({ status: 1, out: '', err: unshown('keys', undo) });
  expect(await runOnFullDisk('keys', 'revoke', '1')).toEqual({
    status: 1,
    out: '',
    err: `catalog keys: ${unreported}: revoked key 1\n`,
  });
  expect((await place.runHere(['keys', 'list'])).out).not.toContain('Till');
});

test('a password that could not be shown is reported with the command that sets another', async () => {
  const undo = 'set another password with catalog users set-password eva@shop.example';
  const expected = { status: 1, out: '', err: unshown('users', undo) };
  expect(await runOnFullDisk(...create)).toEqual(expected);
  expect(await runOnFullDisk('users', 'set-password', 'eva@shop.example')).toEqual(expected);
  const { status, out } = await place.runHere(['users', 'set-password', 'eva@shop.example']);
  expect([status, out]).toEqual([0, expect.stringContaining('password, shown this once: ')]);
});

test('a change that could not be reported is in the error message', async () => {
  const email = 'ina@shop.example';
  expect((await place.runHere([...create.with(3, email)])).status).toBe(0);
  const promoted = await runOnFullDisk('users', 'set-role', email, 'editor');
  const says = (line: string) => ({ status: 1, out: '', err: `catalog ${line}\n` });
  expect(promoted).toEqual(says(`users: ${unreported}: ${email} now has the role editor`));
});

test('a reader that has read enough of a list or of a help is no failure', async () => {
  for (const args of [['users', 'list'], ['keys', 'list'], ['--help'], ['users', '--help']]) {
    const child = place.start(args);
    await child.stdout.cancel();
    await child.stdin.end();
    expect([await child.exited, await child.stderr.text()]).toEqual([0, '']);
  }
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
