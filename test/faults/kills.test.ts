/** kill -9, repeatedly: of the service while products are created, and of imports while they write. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { random } from '../../bench/load/random.ts';
import { createPlace, type Place, totalsOf, waitFor, withDatabaseOf } from '../cli/program.ts';
import { signIn } from '../support/data/sign-in.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { readNames, startLoad } from './load.ts';
import { conclude, roundsOf } from './outcome.ts';

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const settings = { ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '100000000', LOG_LEVEL: 'error' };
const rounds = roundsOf(100);
/** The longest life in milliseconds: of a service once it is ready, and of an import from its first batch. */
const maxLifeMs = 300;
const maxImportMs = 400;
/** Records in one file. A killed import continues with its file; after a finished one, the next file follows. */
const records = 20_000;
const nameOf: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgresql: 'PostgreSQL' };
const longest = rounds * 20_000;

describeOnDatabases('kill -9 on %s', kind => {
  const database = nameOf[kind] ?? kind;
  const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const chance = random(seed);

  test(
    `of the service while products are created (FAULT_SEED=${seed})`,
    async () => {
      const place = await createPlace(kind, settings);
      let life = Promise.withResolvers<string>();
      const start = async () => {
        const child = place.start(['serve', '--port', '0']);
        const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
        life.resolve(url);
        return { child, url };
      };
      const first = await start();
      const token = await signIn(first.url, administrator.ADMIN_EMAIL);
      const load = startLoad('kills', { url: () => life.promise, token: () => token, mayCut: true });
      for (let round = 0, { child } = first; ; { child } = await start()) {
        await Bun.sleep(chance.integer(0, maxLifeMs));
        life = Promise.withResolvers();
        child.kill('SIGKILL');
        await child.exited;
        if (++round === rounds) break;
      }
      const last = await start();
      await load.stop();
      const { names, broken } = await readNames(last.url, token, 'kills');
      last.child.kill('SIGKILL');
      await last.child.exited;
      await expectKeptTotals(place);
      place.remove();
      const name = 'kill -9 of the service';
      const done = 'killed up to 0.3 s after it was ready, while 8 clients create products';
      conclude(
        { name, done, database, rounds },
        { acknowledged: load.acknowledged, found: names, broken: [...load.broken, ...broken] },
      );
    },
    longest,
  );

  test(
    `of imports (FAULT_SEED=${seed})`,
    async () => {
      const place = await createPlace(kind, settings);
      const acknowledged: string[] = [];
      for (let round = 0, file = newFile(place, 0), count = 0; round < rounds; round++) {
        const child = place.start(['import', file, '--batch', '200']);
        const ended = child.exited.then(() => 'ended');
        const text = readAll(child.stderr);
        await Promise.race([text.matches(/records done/), ended]);
        const end = await Promise.race([Bun.sleep(chance.integer(0, maxImportMs)), ended]);
        child.kill('SIGKILL');
        await child.exited;
        const [, done = '0'] = [...(await text.all).matchAll(/([\d,]+) records done/g)].at(-1) ?? [];
        const isWhole = end === 'ended';
        const number = isWhole ? records : Number(done.replaceAll(',', ''));
        for (let index = 0; index < number; index++) acknowledged.push(skuOf(count, index));
        if (isWhole) file = newFile(place, ++count);
      }
      const found = await skusIn(place);
      await expectKeptTotals(place);
      const { status, out } = await place.run(['check']);
      place.remove();
      const name = 'kill -9 of an import';
      const done = 'killed up to 0.4 s after its first batch, then run again with the same file';
      const broken = status === 0 ? [] : out.split('\n');
      conclude({ name, done, database, rounds }, { acknowledged, found, broken });
    },
    longest,
  );
});

const skuOf = (file: number, index: number): string => `F${file}-${index}`;

function newFile(place: Place, file: number): string {
  const lines = Array.from({ length: records }, (_, index) =>
    JSON.stringify({
      sku: skuOf(file, index),
      name: `Product ${index}`,
      price: index % 97,
      category: `${index % 7}`,
    }),
  );
  return place.file(`${file}.ndjson`, `${lines.join('\n')}\n`);
}

function skusIn(place: Place): Promise<string[]> {
  return withDatabaseOf(place, async ({ read, build }) =>
    (await read.all(sql<{ sku: string }>`select sku from products`.compile(build))).map(({ sku }) => sku),
  );
}

async function expectKeptTotals(place: Place): Promise<void> {
  const { kept, counted } = await totalsOf(place);
  expect(kept).toEqual(counted);
}

/** Reads a stream to its end. `matches` resolves when the text so far matches. */
function readAll(stream: ReadableStream<Uint8Array>) {
  let text = '';
  let check = () => {};
  const read = async (): Promise<string> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      check();
    }
    return text;
  };
  return {
    all: read(),
    matches(pattern: RegExp): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      check = () => pattern.test(text) && resolve();
      return promise;
    },
  };
}
