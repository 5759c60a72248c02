/** What README and guide show: every command is run as a newcomer runs it, and its output compared. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace, type Place, waitFor } from '../../cli/program.ts';
import { plainPng } from '../../support/data/images.ts';
import {
  type Example,
  examplesOf,
  isAsShown,
  npmCommandsOf,
  root,
  shownAddress,
} from '../../support/peers/pages.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { signIn } from '../../support/service/service.ts';

setDefaultTimeout(120_000);

const pages = ['README.md', 'docs/guide.md'];
const startsPostgres = 'DATABASE_URL=postgres://catalog:…@db.internal:5432/catalog JWT_SECRET=… ';

interface Started {
  readonly place: Place;
  readonly url: string;
  /** The printed password of the first administrator. */
  readonly password: string;
  stop(): Promise<void>;
}

/** Starts the service by a command of the README, with a separate catalog and a free port. */
async function start(command: string, place: Place): Promise<Started> {
  const more = command.includes(' -- ') ? '--port 0' : '-- --port 0';
  const child = Bun.spawn(['bash', '-c', `exec ${command} ${more}`], {
    cwd: root,
    env: { ...process.env, ...place.environment },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const greeting = command.includes('npm start')
    ? /ready at (\S+)[\s\S]*password +(\S{16})\n/
    : /ready at (\S+)/;
  const [, url = '', password = ''] = await waitFor(child.stderr, greeting);
  const stop = async () => {
    child.kill('SIGTERM');
    await child.exited;
    place.remove();
  };
  return { place, url, password, stop };
}

let sample: Started;
beforeAll(async () => {
  const place = await createPlace('sqlite', { HOST: '127.0.0.1' });
  // The guide uploads this picture.
  const picture = new Bun.Image(plainPng(40, 30, 0x8a, 0x6f, 0x52)).resize(4000, 3000);
  place.file('lamp.jpg', await picture.jpeg().bytes());
  sample = await start('npm start', place);
});
afterAll(() => sample.stop());

async function run(command: string, token = '') {
  const { url, password, place } = sample;
  const real = command
    .replaceAll(shownAddress, url)
    .replaceAll(/<the printed password>|\bPASSWORD\b/g, password)
    .replaceAll(/\bcurl (?!-s)/g, 'curl -s ');
  const child = Bun.spawn(['bash', '-c', `cd "$FOLDER"; ${real}`], {
    cwd: root,
    env: {
      ...process.env,
      ...place.environment,
      TOKEN: token,
      FOLDER: /npm|scripts\//.test(command) ? root : place.folder,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out: out.replaceAll(url, shownAddress), err, status: await child.exited };
}

async function isRight({ command, asAda, output }: Example, administrator: string): Promise<boolean> {
  const token = asAda ? await signIn(sample.url, 'ada@shop.example', 'correct horse battery') : administrator;
  // Notifications follow soon after their cause.
  for (let attempt = 0; attempt < (asAda ? 100 : 1); attempt++) {
    const { out, err, status } = await run(command, token);
    expect([command, status, err]).toEqual([command, 0, '']);
    if (out.includes('"error":"NOT_FOUND"')) return false;
    if (output === undefined || isAsShown(out, output)) return true;
  }
  return false;
}

/** Imports of a file with one product, by the text after `import`: the first through npm, the others without it. */
function imports(files: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(files).map(([rest, text], index) => [
      `npm run catalog -- import ${rest}`,
      async (shown: string) => {
        const [name = ''] = rest.split(' ');
        const command = index === 0 ? shown : shown.replace('npm run catalog --', 'node scripts/catalog.mjs');
        const { out, err, status } = await run(command.replace(name, sample.place.file(name, text)));
        expect([status, out + err]).toEqual([0, expect.stringMatching(/1 created/)]);
      },
    ]),
  );
}

/** Every npm command that the pages name. A new one fails until it is run here too. */
const npmCommands: Readonly<Record<string, (command: string) => Promise<void>>> = {
  // The command that started the service of this file.
  'npm start': async () => expect(sample.url).toStartWith('http://127.0.0.1:'),

  async 'npm test'(command) {
    const { out, err, status } = await run(`${command} -- test/money.test.ts`);
    expect([status, out + err]).toEqual([0, expect.stringMatching(/^ *0 fail$/m)]);
  },

  ...imports({
    'products.csv --map name=title,price=amount': 'title,amount\nImported Lamp,19.5\n',
    'products_export.csv --preset shopify':
      'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\nash,Ash Lamp,Title,Default Title,ASH-1,20\n',
    'products_export.csv --preset shopify --currency EUR':
      'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\noak,Oak Lamp,Title,Default Title,OAK-1,21\n',
    'export.csv --preset magento --image-base https://shop.example/media/catalog/product --weight-unit kg':
      'sku,product_type,name,price,weight\nELM-1,simple,Elm Lamp,22,1.5\n',
    'artikel.csv --decimal comma --map name=Bezeichnung,price=Preis,attributes.colour=Farbe --set brand=Acme':
      'Bezeichnung;Preis;Farbe\nBuchenlampe;23,50;rot\n',
  }),

  async 'npm run --silent catalog -- export --format ndjson > products.ndjson'(command) {
    const file = join(sample.place.folder, 'products.ndjson');
    expect((await run(command.replace('products.ndjson', file))).status).toBe(0);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line).name)).toContain('Imported Lamp');
  },

  async 'npm run example -- http://127.0.0.1:3000 admin@catalog.example PASSWORD lighting 5'(command) {
    const { out, err, status } = await run(command);
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('raised 16 prices by 5 %');
  },

  async [`${startsPostgres}npm run catalog -- serve`](command) {
    if (!hasPostgres) return;
    const started = await start(command.slice(startsPostgres.length), await createPlace('postgresql'));
    const ready = await fetch(`${started.url}/ready`);
    expect(await ready.json()).toMatchObject({ database: 'postgresql' });
    await started.stop();
  },
};

// One test, because each command depends on those before it: the pages are read from top to bottom.
test('every command of README and guide prints the output that the page shows', async () => {
  const token = await signIn(sample.url, 'admin@catalog.example', sample.password);
  const wrong: string[] = [];
  for (const page of pages) {
    const examples = examplesOf(page);
    expect(examples.length).toBeGreaterThan(page === 'README.md' ? 0 : 6);
    for (const example of examples) if (!(await isRight(example, token))) wrong.push(example.command);
  }
  expect(wrong).toEqual([]);
  const shown = pages.flatMap(npmCommandsOf);
  expect(shown.toSorted()).toEqual(Object.keys(npmCommands).toSorted());
  for (const command of shown) await npmCommands[command]?.(command);
});

test('with a wrong password the first request reports it, and leaves no invalid token', async () => {
  const [login] = examplesOf('README.md');
  const signingIn = login?.command.split('\n\n')[0]?.replace('<the printed password>', 'not the password');
  const { out, err } = await run(`${signingIn}\necho "token: $TOKEN."`);
  expect([out, err]).toEqual(['token: .\n', expect.stringContaining('error: 401')]);
});
