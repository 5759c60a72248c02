/**
 * `bun bench/loop.ts [products]`: how long /health waits while others ask for what is much work, on SQLite, the service in
 * a process of its own. Beside it stands the longest delay of the event loop that /metrics tells, which no busy client
 * adds to.
 */
import { join } from 'node:path';
import { runFolder, sqliteCopy } from './databases.ts';
import { signIn, startService } from './servers.ts';

const products = Number(process.argv[2] ?? 300_000);
const secondsEach = 3;
const askedEveryMs = 10;

/** Each makes requests that no cache of the service knows: `number` is another one each time. */
const works: readonly (readonly [
  name: string,
  path: (number: number) => string,
  headers?: Record<string, string>,
])[] = [
  ['nothing', () => '/health'],
  ['prices, by price', number => `/v1/products?page=1&minPrice=${number / 100}&sort=price`],
  ['prices, by name', number => `/v1/products?page=1&minPrice=${number / 100}&sort=name`],
  ['prices that no product has', number => `/v1/products?page=1&minPrice=${1e8 + number}&sort=name`],
  ['the same by cursor', number => `/v1/products?limit=20&minPrice=${1e8 + number}&sort=name`],
  ['/docs/reader.js', () => '/docs/reader.js', { 'Accept-Encoding': 'identity' }],
  ['/openapi.json', () => '/openapi.json', { 'Accept-Encoding': 'identity' }],
];

const copy = await sqliteCopy(products);
const folder = runFolder();
const server = await startService(copy.settings, join(folder, 'errors'));
const url = `http://127.0.0.1:${server.port}`;
// The port is bound before the administrator is made.
await Bun.sleep(2000);
const credentials = { Authorization: `Bearer ${await signIn(server.port)}` };

async function longestDelay(): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return 1000 * Number(/^catalog_event_loop_delay_max_seconds (\S+)$/m.exec(text)?.[1]);
}

console.log(`${products} products; milliseconds`);
console.log(
  '| under | requests | /health p99 | longest | delay of the loop, longest |\n|---|---|---|---|---|',
);
let number = 0;
for (const [name, path, headers = {}] of works) {
  await longestDelay();
  const stopAt = performance.now() + secondsEach * 1000;
  let requests = 0;
  const work = async () => {
    while (performance.now() < stopAt) {
      const response = await fetch(`${url}${path(++number)}`, { headers: { ...credentials, ...headers } });
      await response.bytes();
      if (!response.ok) throw new Error(`${name}: ${response.status}`);
      requests += 1;
    }
  };
  const waits: number[] = [];
  const health = async () => {
    while (performance.now() < stopAt) {
      const started = performance.now();
      await (await fetch(`${url}/health`)).bytes();
      waits.push(performance.now() - started);
      await Bun.sleep(askedEveryMs);
    }
  };
  await Promise.all([work(), work(), health()]);
  waits.sort((a, b) => a - b);
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? Number.NaN;
  const cells = [p99, waits.at(-1) ?? Number.NaN, await longestDelay()].map(value => value.toFixed(1));
  console.log(`| ${[name, requests, ...cells].join(' | ')} |`);
}
await server.stop();
await copy.remove();
process.exit(0);
