/** Settings in the file `.env` of the current folder, as the launcher reads them. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { settings } from '../../../src/settings/index.ts';
import { createPlace, type Place, waitFor } from '../program.ts';

const launcher = join(import.meta.dir, '..', '..', '..', 'scripts', 'catalog.mjs');

/** Runs the program through its launcher, in the place's folder. */
async function launch(
  place: Place,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const child = Bun.spawn(['node', launcher, ...args], {
    cwd: place.folder,
    env: { PATH: process.env.PATH ?? '', HOME: '/home/of-the-test', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, err, status: await child.exited };
}

test('.env in the current folder is read, and the environment takes precedence', async () => {
  const place = await createPlace('sqlite');
  place.file('.env', 'DATA_DIR=./from-file\nDEFAULT_CURRENCY=nonsense\n');
  expect(await launch(place, ['migrate'])).toMatchObject({
    status: 78,
    err: expect.stringContaining('setting DEFAULT_CURRENCY'),
  });
  const ended = await launch(place, ['migrate'], { DEFAULT_CURRENCY: 'CHF' });
  expect([ended.err, ended.status]).toEqual(['', 0]);
  expect(existsSync(join(place.folder, 'from-file', 'catalog.db'))).toBe(true);
  place.remove();
});

test('.env as Windows writes it: a byte order mark is no part of the first name, other encodings are refused', async () => {
  const place = await createPlace('sqlite');
  place.file('.env', '\uFEFFDATA_DIR=./from-file\r\nDEFAULT_CURRENCY=CHF\r\n');
  expect(await launch(place, ['migrate'])).toMatchObject({ status: 0, err: '' });
  expect(existsSync(join(place.folder, 'from-file', 'catalog.db'))).toBe(true);
  for (const bytes of [
    Buffer.from('\uFEFFDATA_DIR=./other\r\n', 'utf16le'),
    Buffer.from('ADMIN_PASSWORD=Tür-und-Tor-9\r\n', 'latin1'),
  ]) {
    place.file('.env', bytes);
    expect(await launch(place, ['migrate'])).toEqual({
      status: 78,
      out: '',
      err: 'catalog: .env in the current folder is not a text in UTF-8; save it in this encoding\n',
    });
  }
  place.file('.env', Buffer.from('# für später\r\nDEFAULT_CURRENCY=CHF\r\n', 'latin1'));
  expect(await launch(place, ['migrate'])).toMatchObject({ status: 0, err: '' });
  place.remove();
});

/** Values as written in the file, and as the program reads them. */
const values: readonly (readonly [written: string, value: string])[] = [
  ['pa$word-$HOME-x', 'pa$word-$HOME-x'],
  ["'pa$HOME-{HOME}#x'", 'pa$HOME-{HOME}#x'],
  ['"pa$HOME#x"', 'pa$HOME#x'],
  ['abcdefghijk#lmnop', 'abcdefghijk'],
  [' spaced out  # a comment', 'spaced out'],
  ["' kept '", ' kept '],
  ['a=b', 'a=b'],
  ["'a\\nb'", 'a\\nb'],
  ['"a\\nb"', 'a\nb'],
];

test('the values of .env are literal, except for comments and quotation marks', async () => {
  const place = await createPlace('sqlite');
  place.file('.env', values.map(([written], index) => `V${index}=${written}\n`).join(''));
  const script = join(import.meta.dir, '..', '..', '..', 'scripts', 'settings.mjs');
  const code = `import { environmentIn } from '${script}';
    const all = environmentIn('.');
    console.log(JSON.stringify(Array.from({ length: ${values.length} }, (_, index) => all['V' + index])));`;
  const child = Bun.spawn(['node', '--input-type=module', '--eval', code], { cwd: place.folder });
  expect(JSON.parse(await child.stdout.text())).toEqual(values.map(([, value]) => value));
  place.remove();
});

test('the first administrator signs in with a password of .env that has special characters', async () => {
  const place = await createPlace('sqlite');
  place.file(
    '.env',
    "PORT=0\nHOST=127.0.0.1\nADMIN_EMAIL=a@shop.example\nADMIN_PASSWORD='pa$word-$HOME#x'\nDATA_DIR=./data\n",
  );
  const child = Bun.spawn(['node', launcher, 'serve'], {
    cwd: place.folder,
    env: { PATH: process.env.PATH ?? '', HOME: '/home/of-the-test', STOP_DELAY: '0' },
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const [, address] = await waitFor(child.stdout, /"address":"([^"]+)"/);
  const signIn = await fetch(`${address}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'a@shop.example', password: 'pa$word-$HOME#x' }),
  });
  expect(signIn.status).toBe(200);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  place.remove();
});

test('other settings files in the current folder are ignored, and Bun runs no code from it', async () => {
  const place = await createPlace('sqlite');
  const code = place.file('code.ts', `require('node:fs').writeFileSync('${place.folder}/ran', '')`);
  place.file('bunfig.toml', 'preload = ["./code.ts"]\n');
  for (const name of ['.env.local', '.env.development', '.env.production', '.env.test'])
    place.file(name, 'DEFAULT_CURRENCY=nonsense\n');
  place.file('.env', `DATA_DIR=./data\nBUN_OPTIONS=--preload=${code}\nNODE_OPTIONS=--require=${code}\n`);
  const ended = await launch(place, ['migrate']);
  expect([ended.err, ended.status]).toEqual(['', 0]);
  expect(existsSync(join(place.folder, 'ran'))).toBe(false);
  place.remove();
});

test('a colon after a name in .env, as in YAML, is reported, but not within a value', async () => {
  const place = await createPlace('sqlite');
  for (const line of ['DATABASE_URL: postgres://a:b@127.0.0.1:1/c?sslmode=require', 'PORT : 80']) {
    place.file('.env', `# PORT: 80\nDATA_DIR=./data\n${line}\n`);
    const [name = ''] = line.split(/ ?:/, 1);
    expect(await launch(place, ['migrate'])).toEqual({
      status: 78,
      out: '',
      err: `catalog: .env in the current folder has "${name}:" in line 3; write ${name}=value\n`,
    });
  }
  place.file('.env', 'DATA_DIR=./data\nINVOICE_SELLER="Lamps\nHOTLINE: 0800"\nPROXY=a\n');
  expect(await launch(place, ['migrate'])).toMatchObject({ status: 0, err: '' });
  place.remove();
});

test('an unreadable .env is reported in one line', async () => {
  const place = await createPlace('sqlite');
  Bun.spawnSync(['mkdir', join(place.folder, '.env')]);
  expect(await launch(place, ['migrate'])).toEqual({
    out: '',
    err: 'catalog: .env in the current folder cannot be read (EISDIR); change its owner or mode, or remove it\n',
    status: 78,
  });
  place.remove();
});

test('the launcher exits with the status of the command', async () => {
  const place = await createPlace('sqlite');
  expect((await launch(place, ['nothing'])).status).toBe(2);
  expect((await launch(place, ['--version'])).out).toBe(
    `${JSON.parse(readFileSync(join(import.meta.dir, '..', '..', '..', 'package.json'), 'utf8')).version}\n`,
  );
  place.remove();
});

test('SEARCH_LANGUAGES is empty for a comma alone, as its help says, and the default for an empty value', () => {
  expect(loadConfig({ SEARCH_LANGUAGES: '' }).SEARCH_LANGUAGES).toEqual(['en', 'de']);
  expect(loadConfig({ SEARCH_LANGUAGES: ',' }).SEARCH_LANGUAGES).toEqual([]);
  expect(settings.SEARCH_LANGUAGES.help).toEndWith('; a comma alone: none');
});
