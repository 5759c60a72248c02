/** The command line itself: help, misuse and exit statuses. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { version } from '../../package.json';
import { commands } from '../../src/cli/index.ts';
import { createPlace, type Place, waitFor } from './program.ts';

describe('the command line', () => {
  let place: Place;
  beforeAll(async () => {
    place = await createPlace('sqlite');
  });
  afterAll(() => place.remove());

  test.each([
    ['--help', ['--help'], 0, /^catalog: [\s\S]*Usage: catalog COMMAND[\s\S]*DATABASE_URL/],
    ['--version', ['--version'], 0, new RegExp(`^${version}\n$`)],
    ['an unknown command', ['zap'], 2, /^catalog: there is no command "zap"; .*\n$/],
    ['an unknown option', ['import', '--zap'], 2, /^catalog import: unknown option '--zap'; see .*\n$/],
    ['a missing argument', ['import'], 2, /^catalog import: FILE is missing; see .*\n$/],
    ['an empty argument', ['backup', ''], 2, /^catalog backup: FILE is missing; see .*\n$/],
    ['an empty value', ['export', '--output', ''], 2, /^catalog export: --output needs a value; see .*\n$/],
    ['one argument too many', ['import', 'a', 'b'], 2, /^catalog import: unexpected argument "b"; .*\n$/],
    [
      'a bad mapping',
      ['import', 'a', '--map', 'colour=x'],
      2,
      /^catalog import: --map: the field of a mapping must be one of .*\n$/,
    ],
    [
      'a bad number',
      ['import', 'a', '--batch', '0'],
      2,
      /^catalog import: --batch takes an integer from 1 .*\n$/,
    ],
    [
      'a number below zero',
      ['import', 'a', '--skip', '-1'],
      2,
      /^catalog import: --skip takes an integer from 0 to \d+, not "-1"; see .*\n$/,
    ],
    [
      'another',
      ['keys', 'create', '--name', 'x', '--scopes', 'data:read', '--rate', '-5'],
      2,
      /^catalog keys: --rate takes an integer from 1 to \d+, not "-5"; see .*\n$/,
    ],
    [
      'a value with a dash',
      ['export', '--format', '-csv'],
      2,
      /^catalog export: --format is one of csv, ndjson, json, not "-csv"; see .*\n$/,
    ],
    ['no value', ['import', 'a', '--skip'], 2, /^catalog import: --skip needs a value; see .*\n$/],
    [
      'an option for a value',
      ['import', 'a', '--rejects', '--dry-run'],
      2,
      /^catalog import: --rejects needs a value; if the value is "--dry-run", write --rejects=--dry-run; see .*\n$/,
    ],
    [
      'a value that is not taken',
      ['import', 'a', '--dry-run=3'],
      2,
      /^catalog import: --dry-run takes no value; see .*\n$/,
    ],
    [
      'an option given twice',
      ['export', '--format', 'json', '--format=csv'],
      2,
      /^catalog export: --format is given twice, but takes one value; see .*\n$/,
    ],
    [
      'an option that takes back another',
      ['import', 'a', '--dry-run', '--no-dry-run'],
      2,
      /^catalog import: --dry-run and --no-dry-run contradict each other; see .*\n$/,
    ],
    ['no --no-', ['import', 'a', '--no-skip'], 2, /^catalog import: unknown option '--no-skip'; see .*\n$/],
    [
      'an argument of a command without any',
      ['users', 'list', 'all'],
      2,
      /^catalog users: unexpected argument "all"; see .*\n$/,
    ],
    [
      'an option without the one that it is for',
      ['media', 'check', '--all-files-are-lost'],
      2,
      /^catalog media: --all-files-are-lost is for --repair only; see .*\n$/,
    ],
    ['no such file', ['import', '/no/such/file'], 1, /^catalog import: there is no file \/no\/such\/file\n$/],
    [
      'an unknown action',
      ['users', 'zap'],
      2,
      /^catalog users: unknown action "zap": use create, .*; see .*\n$/,
    ],
  ] as const)('%s', async (_, args, status, output) => {
    const ended = await place.runHere(args);
    expect(ended.out + ended.err).toMatch(output);
    expect(ended.status).toBe(status);
  });

  test('a separate process prints the same, and exits with the same status', async () => {
    for (const args of [['--version'], ['zap'], ['import', '/no/such/file']])
      expect(await place.run(args)).toEqual(await place.runHere(args));
  });

  test('help COMMAND is COMMAND --help', async () => {
    const [help, word] = [await place.runHere(['import', '--help']), await place.runHere(['help', 'import'])];
    expect(word).toEqual({ ...help, status: 0 });
    expect(await place.runHere(['help', 'zap'])).toMatchObject({
      status: 2,
      err: expect.stringContaining('"zap"'),
    });
  });

  test('--help of each command', async () => {
    for (const { name } of commands) {
      const ended = await place.runHere([name, '--help']);
      expect(ended.status).toBe(0);
      expect(ended.out).toStartWith(`Usage: catalog ${name}`);
      expect([name, ended.out]).toEqual([name, expect.stringContaining('\nExit status: 0 ')]);
      for (const line of ended.out.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    }
  });

  test('backup without a database is refused', async () => {
    const empty = await createPlace('sqlite');
    const ended = await empty.runHere(['backup', join(empty.folder, 'copy.db')]);
    expect(ended.err).toMatch(/^catalog backup: there is no database .*\n$/);
    expect(ended.status).toBe(1);
    empty.remove();
  });

  test('a bad setting is reported', async () => {
    const wrong = await createPlace('sqlite', { DEFAULT_CURRENCY: 'euro' });
    const ended = await wrong.run(['import', '-'], '');
    wrong.remove();
    expect(ended).toMatchObject({
      status: 78,
      err: expect.stringMatching(/^catalog: setting DEFAULT_CURRENCY: .*\n$/),
    });
  });

  test('a backup on PostgreSQL names the tool for it', async () => {
    const elsewhere = await createPlace('sqlite', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    const ended = await elsewhere.runHere(['backup', 'copy.db']);
    elsewhere.remove();
    expect(ended).toMatchObject({ status: 1, err: expect.stringMatching(/^catalog backup: .*pg_dump\n$/) });
  });

  test('a backup while the service runs is whole and never overwrites', async () => {
    const served = await createPlace('sqlite', { PORT: '0', HOST: '127.0.0.1' });
    const server = served.start(['serve', '--sample']);
    try {
      await waitFor(server.stdout, /"address"/);
      const copy = join(served.folder, 'copy.db');
      expect(await served.runHere(['backup', copy])).toMatchObject({ status: 0 });
      using connection = new Database(copy, { readonly: true });
      const query = connection.query<{ total: number }, []>('select count(*) as total from products');
      expect(query.get()?.total).toBeGreaterThan(10);
      const again = await served.runHere(['backup', copy]);
      expect(again).toMatchObject({
        status: 1,
        err: expect.stringMatching(/already exists; nothing was written\n$/),
      });
    } finally {
      server.kill('SIGTERM');
      await server.exited;
    }
    served.remove();
  });
});
