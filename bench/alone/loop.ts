/**
 * `bun bench/alone/loop.ts [products] [seconds] [name]`: how long /health waits during expensive requests, on SQLite.
 * The service, the load and the probe are separate processes. The first and the last row, without load, show the noise
 * of the machine. Each row also has the longest delay of the event loop that /metrics shows. With a name, only the
 * works whose names contain it are run.
 */
import { join } from 'node:path';
import { runLoad } from '../load/load.ts';
import { markdownTable } from '../report/statistics.ts';
import { runFolder, sqliteCopy } from '../servers/databases.ts';
import { type RunningServer, signIn, startService } from '../servers/servers.ts';

const products = Number(process.argv[2] ?? 500_000);
const secondsEach = Number(process.argv[3] ?? 4);
const only = process.argv[4] ?? '';
const largeProducts = 500;
const largeText = 'word of a long text '.repeat(450);

interface Work {
  readonly name: string;
  readonly connections: number;
  /** The request with this number; requests for lists all differ, so that no cache of the service helps. */
  readonly request: (number: number) => Request;
  readonly status?: number;
}

interface Request {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const get = (name: string, path: (number: number) => string, connections = 2, encoding?: string): Work => ({
  name,
  connections,
  request: number => ({
    path: path(number),
    ...(encoding === undefined ? {} : { headers: { 'Accept-Encoding': encoding } }),
  }),
});
const bulkPatch = (name: string, ids: readonly number[], update: (number: number) => object): Work => ({
  name,
  connections: 1,
  request: number => ({ path: '/v1/products', method: 'PATCH', body: { ids, update: update(number) } }),
});

const worksOn = (large: readonly number[]): readonly Work[] => [
  get('/openapi.json, made for the first time', () => '/openapi.json'),
  get('/openapi.json, br for the first time', () => '/openapi.json', 2, 'br'),
  get('/docs/reader.js', () => '/docs/reader.js'),
  get('/docs/reader.js, gzip', () => '/docs/reader.js', 2, 'gzip'),
  get('prices, by price', number => `/v1/products?page=1&minPrice=${number / 100}&sort=price`),
  get('prices, by name', number => `/v1/products?page=1&minPrice=${number / 100}&sort=name`),
  get('prices that no product has', number => `/v1/products?page=1&minPrice=${1e8 + number}&sort=name`),
  get('the same by cursor', number => `/v1/products?limit=20&minPrice=${1e8 + number}&sort=name`),
  get('deep pages', number => `/v1/products?page=${1 + ((number * 7919) % (products / 20))}&sort=name`),
  bulkPatch('bulk PATCH of 500 × 9 KB: status', large, number => ({
    status: number % 2 === 0 ? 'active' : 'archived',
  })),
  bulkPatch('bulk PATCH of 500 × 9 KB: another text', large, number => ({
    description: `${largeText}${number}`,
  })),
  {
    name: 'stock adjustments of 500 × 9 KB',
    connections: 1,
    request: number => ({
      path: '/v1/stock/adjustments',
      method: 'POST',
      body: { adjustments: large.map(productId => ({ productId, delta: 1, reason: `count ${number}` })) },
    }),
  },
  get('1,000 readers of 1 MB', () => '/v1/products?category=large&perPage=100&page=1', 1000),
  get('1,000 readers of 1 MB, gzip', () => '/v1/products?category=large&perPage=100&page=1', 1000, 'gzip'),
];

function bytesOf(token: string, { path, method = 'GET', headers = {}, body }: Request): Uint8Array {
  const text = body === undefined ? '' : JSON.stringify(body);
  const sent = {
    Host: 'bench',
    Authorization: `Bearer ${token}`,
    ...headers,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': text.length }),
  };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
}

/** Creates products with 9 KB of text each. @returns their ids */
async function addLarge(url: string, token: string): Promise<number[]> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const stock = { onHand: 1000 };
  const add = async (_: unknown, index: number): Promise<number> => {
    const product = { name: `Large ${index}`, price: 1, category: 'large', description: largeText, stock };
    const response = await fetch(`${url}/v1/products`, {
      method: 'POST',
      headers,
      body: JSON.stringify(product),
    });
    const made: unknown = await response.json();
    if (typeof made === 'object' && made !== null && 'id' in made) return Number(made.id);
    throw new Error(`POST /v1/products answered ${response.status}`);
  };
  return Promise.all(Array.from({ length: largeProducts }, add));
}

/** @returns a function that returns the waits since its previous call */
function startProbe({ port }: RunningServer) {
  const child = Bun.spawn([process.execPath, 'bench/load/probe.ts', String(port)], {
    cwd: join(import.meta.dir, '..', '..'),
    stdin: 'pipe',
    stdout: 'pipe',
  });
  const output = child.stdout.getReader();
  let unread = '';
  async function line(): Promise<string> {
    while (!unread.includes('\n')) {
      const { value, done } = await output.read();
      if (done) throw new Error('The probe has ended.');
      unread += new TextDecoder().decode(value);
    }
    const end = unread.indexOf('\n');
    const first = unread.slice(0, end);
    unread = unread.slice(end + 1);
    return first;
  }
  return {
    async waits(): Promise<number[]> {
      child.stdin.write('\n');
      child.stdin.flush();
      const numbers: unknown = JSON.parse(await line());
      return Array.isArray(numbers) ? numbers.map(Number) : [];
    },
    stop: () => child.kill(),
  };
}

async function readMaxDelay(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return 1000 * Number(/^catalog_event_loop_delay_max_seconds (\S+)$/m.exec(text)?.[1]);
}

const copy = await sqliteCopy(products);
const server = await startService(copy.settings, join(runFolder(), 'errors'));
const url = `http://127.0.0.1:${server.port}`;
const token = await signIn(server.port);
const large = await addLarge(url, token);
const probe = startProbe(server);
await Bun.sleep(2000);

const rows: string[][] = [
  ['under', 'requests', '/health p50', 'p99', 'longest', 'delay of the loop, longest'],
];
async function measure(name: string, work: () => Promise<number>): Promise<void> {
  await readMaxDelay(url);
  await probe.waits();
  const requests = await work();
  const waits = (await probe.waits()).sort((a, b) => a - b);
  const at = (share: number) =>
    waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN;
  const numbers = [at(0.5), at(0.99), at(1), await readMaxDelay(url)];
  rows.push([name, String(requests), ...numbers.map(value => value.toFixed(1))]);
  console.error(rows.at(-1)?.join('  '));
}
const quiet = () =>
  measure('nothing', async () => {
    await Bun.sleep(secondsEach * 1000);
    return 0;
  });

await quiet();
let number = 0;
for (const { name, connections, request, status = 200 } of worksOn(large)) {
  if (!name.includes(only)) continue;
  await measure(name, async () => {
    const load = {
      port: server.port,
      statuses: [status],
      connections,
      request: () => bytesOf(token, request(++number)),
      milliseconds: secondsEach * 1000,
    };
    return (await runLoad(load)).requests;
  });
}
await quiet();
console.log(`${products} products; milliseconds\n\n${markdownTable(rows)}`);
probe.stop();
await server.stop();
await copy.remove();
process.exit(0);
