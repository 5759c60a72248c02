/**
 * The image of deploy/container/Dockerfile, without a container engine: its files, copied into an empty folder, run
 * with its command and environment, and nothing else.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../scripts/tests/postgresql.ts';
import { waitFor } from '../cli/program.ts';

const root = join(import.meta.dir, '..', '..');
const file = readFileSync(join(root, 'deploy/container/Dockerfile'), 'utf8');

/** The instructions of the image itself, the last stage, with continued lines joined. */
const instructions = file
  .slice(file.lastIndexOf('\nFROM '))
  .replaceAll('\\\n', '')
  .split('\n')
  .flatMap(line => {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, rest }];
  });
const argumentsOf = (name: string) =>
  instructions.filter(one => one.name === name).map(({ rest }) => rest.trim());
/** The command of an instruction in its exec form. */
const commandOf = (name: string): string[] =>
  argumentsOf(name).flatMap((text): string[] => JSON.parse(text.slice(text.indexOf('['))));

/** The paths that a build may read, from the ignore file. */
const buildable = readFileSync(join(root, 'deploy/container/Dockerfile.dockerignore'), 'utf8')
  .split('\n')
  .flatMap(line => (line.startsWith('!') ? [line.slice(1)] : []));

function copyFiles(image: string): string[] {
  const copied = argumentsOf('COPY').flatMap(text => {
    const words = text.split(/ +/);
    return words[0]?.startsWith('--from=') ? [] : words.slice(0, -1);
  });
  for (const path of copied) {
    mkdirSync(dirname(join(image, path)), { recursive: true });
    cpSync(join(root, path), join(image, path), { recursive: true });
  }
  return copied;
}

describe('the image of the Dockerfile', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'catalog-image-')));
  const image = join(folder, 'catalog');
  let copied: string[] = [];
  beforeAll(() => {
    copied = copyFiles(image);
    symlinkSync(join(root, 'node_modules'), join(image, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('copies only what the ignore file lets a build read, and all of that', () => {
    const inPackages = [...file.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, text = '']) =>
      text.split(/ +/).slice(0, -1),
    );
    expect(copied.length).toBeGreaterThan(3);
    expect([...new Set(inPackages)].sort()).toEqual(buildable.toSorted());
  });

  test('serves with its command, passes its health check, and stops at SIGTERM', async () => {
    const settings = Object.fromEntries(argumentsOf('ENV').map(text => text.split('=')));
    expect(settings).toEqual({ DATA_DIR: argumentsOf('VOLUME')[0] });
    const port = await freePort();
    const environment = {
      PATH: process.env.PATH ?? '',
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      STOP_DELAY: '0',
    };
    const run = (command: readonly string[]) =>
      Bun.spawn([...command], { cwd: image, env: environment, stdout: 'ignore', stderr: 'pipe' });
    const check = () => run(commandOf('HEALTHCHECK')).exited;
    expect(await check()).toBe(1);
    const service = run([...commandOf('ENTRYPOINT'), ...commandOf('CMD')]);
    try {
      await waitFor(service.stderr, /ready at/);
      expect(await check()).toBe(0);
    } finally {
      service.kill('SIGTERM');
    }
    expect(await service.exited).toBe(0);
  });

  test('runs as a user who owns nothing but the data', () => {
    const names = instructions.map(({ name }) => name);
    expect(argumentsOf('USER')).toEqual(['node']);
    expect(names.indexOf('RUN')).toBeLessThan(names.indexOf('USER'));
    expect(argumentsOf('RUN')).toEqual([
      expect.stringMatching(/^install -d -o node -g node -m 0700 \/data /),
    ]);
  });
});
