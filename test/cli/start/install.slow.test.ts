/** The installation before the first command, with a fake npm that only records its calls. */
import { afterEach, expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { version } from '../../../package.json';
import { waitFor } from '../program.ts';

const packages = { '': { workspaces: ['client'] }, 'node_modules/bun': { version: '1.0.0' } };

const npm = (calls: string, gate: string) => `#!/bin/sh
echo "$@" >> '${calls}'
while [ ! -e '${gate}' ]; do [ -e "$0" ] || exit 1; sleep 0.02; done
[ -s '${gate}' ] && exit 1
mkdir -p node_modules/bun/bin
ln -sf '${process.execPath}' node_modules/bun/bin/bun
cp package-lock.json node_modules/.package-lock.json
`;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Creates a checkout without installed packages. */
function createCheckout() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'catalog-install-')));
  folders.push(folder);
  const root = join(folder, 'checkout');
  const [calls, gate] = [join(folder, 'calls'), join(folder, 'gate')];
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  cpSync(join(import.meta.dir, '../../../scripts'), join(root, 'scripts'), { recursive: true });
  write('checkout/package.json', JSON.stringify({ type: 'module', version }));
  write('checkout/package-lock.json', JSON.stringify({ packages }));
  write('checkout/client/package.json', '{}');
  write('checkout/bunfig.toml', '');
  write('checkout/src/main.ts', "console.log('ran', ...process.argv.slice(2));");
  write('bin/npm', npm(calls, gate));
  chmodSync(join(folder, 'bin/npm'), 0o755);
  return {
    root,
    write,
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    /** Lets npm end. */
    open: (reason = '') => writeFileSync(gate, reason),
    hidden: () => readdirSync(root).filter(name => name.startsWith('.')),
    start: (...args: string[]) =>
      Bun.spawn(['node', join(root, 'scripts/catalog.mjs'), ...args], {
        cwd: folder,
        // A process group of its own, which is killed as a whole.
        detached: true,
        env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
        stdout: 'pipe',
        stderr: 'pipe',
      }),
  };
}

type Checkout = ReturnType<typeof createCheckout>;
async function endOf(child: ReturnType<Checkout['start']>) {
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, out, err };
}

const command = 'ci --omit=dev --no-fund --no-audit --loglevel=error';
const installing = 'catalog: installing production dependencies (once) …\n';

test('the first command installs the dependencies, and the second does not', async () => {
  const checkout = createCheckout();
  checkout.open();
  expect(await endOf(checkout.start('check'))).toEqual({ status: 0, out: 'ran check\n', err: installing });
  expect(await endOf(checkout.start('check'))).toEqual({ status: 0, out: 'ran check\n', err: '' });
  expect([checkout.calls(), checkout.hidden()]).toEqual([[command], []]);
});

test('commands that begin together install once; the others wait and report it', async () => {
  const checkout = createCheckout();
  const first = checkout.start('users', 'list');
  await waitFor(first.stderr, /installing/);
  const others = [checkout.start('keys', 'list'), checkout.start('check')];
  for (const other of others) {
    const [said] = await waitFor(other.stderr, /.*\n/);
    expect(said).toStartWith(`catalog: process ${first.pid} installs dependencies in this folder: waiting`);
  }
  checkout.open();
  const ended = [first, ...others].map(async child => [await child.stdout.text(), await child.exited]);
  expect(await Promise.all(ended)).toEqual([
    ['ran users list\n', 0],
    ['ran keys list\n', 0],
    ['ran check\n', 0],
  ]);
  expect([checkout.calls(), checkout.hidden()]).toEqual([[command], []]);
});

test('an installation whose processes were killed is repeated', async () => {
  const checkout = createCheckout();
  const killed = checkout.start('check');
  await waitFor(killed.stderr, /installing/);
  process.kill(-killed.pid, 'SIGKILL');
  await killed.exited;
  expect(checkout.hidden()).toEqual(['.installing']);
  checkout.open();
  expect(await endOf(checkout.start('check'))).toEqual({ status: 0, out: 'ran check\n', err: installing });
  expect(checkout.hidden()).toEqual([]);
});

test('a failed installation ends the command and can be retried', async () => {
  const checkout = createCheckout();
  checkout.open('no network');
  const failed = await endOf(checkout.start('check'));
  expect([failed.status, failed.out, checkout.hidden()]).toEqual([1, '', []]);
  expect(failed.err).toContain('the installation failed');
  checkout.open();
  expect((await endOf(checkout.start('check'))).status).toBe(0);
});

test.each(['node_modules', 'client/node_modules'])('no installation through a link: %s', async path => {
  const checkout = createCheckout();
  checkout.open();
  checkout.write('other/kept.txt', 'of another checkout');
  const link = join(checkout.root, path);
  symlinkSync(join(checkout.root, '../other'), link);
  const ended = await endOf(checkout.start('serve'));
  expect(ended).toEqual({
    status: 1,
    out: '',
    err: `catalog: ${link} is a symbolic link, and its target lacks production dependencies; remove the link, or run npm ci in the target folder, and try again\n`,
  });
  expect(readdirSync(join(checkout.root, '../other'))).toEqual(['kept.txt']);
  expect([checkout.calls(), checkout.hidden()]).toEqual([[], []]);
});

test('--version installs nothing', async () => {
  const checkout = createCheckout();
  for (const option of ['--version', '-v'])
    expect(await endOf(checkout.start(option))).toEqual({ status: 0, out: `${version}\n`, err: '' });
  expect(checkout.calls()).toEqual([]);
});
