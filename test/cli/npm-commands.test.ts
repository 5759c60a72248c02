/** What README and guide call through npm: each command is run, on a catalog of its own, and does what the page says. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace, type Place, type Running, waitFor } from './program.ts';

setDefaultTimeout(120_000);

const root = join(import.meta.dir, '..', '..');
const shownAddress = 'http://127.0.0.1:3000';

let place: Place;
let service: Running;
let url = '';
let password = '';
beforeAll(async () => {
  place = await createPlace('sqlite', { HOST: '127.0.0.1' });
  service = place.start(['serve', '--sample', '--port', '0']);
  const greeting = /ready at (\S+)[\s\S]*password +(\S+)\n/;
  [, url = '', password = ''] = await waitFor(service.stderr, greeting);
});
afterAll(async () => {
  service.kill('SIGTERM');
  await service.exited;
  place.remove();
});

/** The lines of a page's shell blocks that call the program through npm. */
function npmCommandsOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return blocks
    .flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
    .map(line => line.replace(/ {2,}#.*$/, ''))
    .filter(line => /\bnpm (?:run|start|test)\b/.test(line));
}

/** Every command that the pages name; one that is added fails until it is run here too. */
const npmCommands: Readonly<Record<string, (command: string) => Promise<void>>> = {
  // The service of this file is that of `npm start`, and this is a part of what `npm test` runs.
  'npm start': async () => undefined,
  'npm test': async () => undefined,

  async 'npm run catalog -- import products.csv --map name=title,price=amount'(command) {
    const file = place.file('products.csv', 'title,amount\nImported Lamp,19.5\n');
    const { out, status } = await runInProject(command.replace('products.csv', file));
    expect([status, out]).toEqual([0, expect.stringMatching(/1 created/)]);
  },

  async 'npm run --silent catalog -- export --format ndjson > products.ndjson'(command) {
    const file = join(place.folder, 'products.ndjson');
    const { status } = await runInProject(command.replace('products.ndjson', file));
    expect(status).toBe(0);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line).name)).toContain('Imported Lamp');
  },

  async 'npm run example -- http://127.0.0.1:3000 admin@catalog.example PASSWORD lighting 5'(command) {
    const real = command.replace(shownAddress, url).replace('PASSWORD', password);
    const { out, err, status } = await runInProject(real);
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('raised 16 prices by 5 %');
  },
};

/** With PostgreSQL the README can show no address that answers: those lines name only how it is set. */
const isShownOnly = (command: string) => command.startsWith('DATABASE_URL=');

async function runInProject(command: string) {
  const child = Bun.spawn(['bash', '-c', command], {
    cwd: root,
    env: { ...process.env, ...place.environment },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, err, status: await child.exited };
}

test('the commands of README and guide through npm do what the pages say', async () => {
  const shown = ['README.md', 'docs/guide.md'].flatMap(npmCommandsOf).filter(line => !isShownOnly(line));
  expect(shown.toSorted()).toEqual(Object.keys(npmCommands).toSorted());
  for (const command of shown) await npmCommands[command]?.(command);
});
