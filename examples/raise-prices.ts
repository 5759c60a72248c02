/**
 * Raises the price of every product of a category by some per cent, without overwriting the changes of others:
 *
 *   npm run example -- http://127.0.0.1:3000 admin@catalog.example PASSWORD lighting 5
 *
 * It signs in as an administrator and creates an API key, which has its own quota; RATE, the last argument, is the
 * number of requests per window that the key may send. With the key, it reads the products page by page with the
 * cursor, and sends each change with If-Match. If another change came first (412), it reads the product again; if the
 * quota is used up (429), it waits. At the end, it revokes the key.
 */
import { type Catalog, createCatalog } from '@catalog/client';

const [baseUrl, email, password, category, percent, rate] = process.argv.slice(2);
const numbers = [Number(percent), Number(rate ?? 1)];
if (!baseUrl || !email || !password || !category || !percent || !numbers.every(Number.isFinite)) {
  console.error('usage: raise-prices URL EMAIL PASSWORD CATEGORY PERCENT [RATE]');
  process.exit(2);
}
if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
  console.error(`raise-prices: URL is an address such as http://127.0.0.1:3000, not "${baseUrl}"`);
  process.exit(2);
}
const factor = 1 + Number(percent) / 100;
const pageSize = 50;

const onWait = (seconds: number, status: number) => console.error(`waiting ${seconds} s (${status})`);
const administrator = createCatalog({ baseUrl, credentials: { email, password }, onWait });

try {
  const { id, key } = await ownKey(administrator);
  try {
    const catalog = createCatalog({ baseUrl, credentials: { apiKey: key }, onWait });
    await checkQuota(catalog, category);
    let raised = 0;
    for await (const product of productsOf(catalog, category)) {
      await raise(catalog, product);
      raised += 1;
    }
    console.log(`raised ${raised} prices by ${percent} %`);
  } finally {
    // If this fails, the key still expires; the caller needs to see the original error.
    await administrator.DELETE('/v1/keys/{id}', { params: { path: { id } } }).catch(() => undefined);
  }
} catch (error) {
  // Errors of the system have a code, but do not name the server.
  const where = error instanceof Error && 'code' in error ? `${new URL(baseUrl).origin}: ` : '';
  console.error(`raise-prices: ${where}${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

/** A key for this run; if the run is interrupted, the key expires after a day. */
async function ownKey(client: Catalog): Promise<{ id: number; key: string }> {
  const { data, error } = await client.POST('/v1/keys', {
    body: {
      name: 'raise-prices',
      scopes: ['products:read', 'products:write'],
      expiresAt: new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString(),
      ...(rate === undefined ? {} : { rateLimit: Number(rate) }),
    },
  });
  if (data === undefined) throw new Error(`no API key was made: ${error.message}`);
  return data;
}

/** Warns at the start if the quota is too small. */
async function checkQuota(client: Catalog, wanted: string): Promise<void> {
  const { data, response, error } = await client.GET('/v1/products', {
    params: { query: { category: wanted, perPage: 1 } },
  });
  if (data === undefined) throw new Error(`the list was refused: ${error.message}`);
  const total = 'total' in data.meta ? (data.meta.total ?? 0) : 0;
  // One request for each page of fifty products; a read and a change for each product.
  const needed = Math.max(1, Math.ceil(total / pageSize)) + 2 * total;
  const [limit, remaining, window] = ['Limit', 'Remaining', 'Window'].map(name =>
    Number(response.headers.get(`X-RateLimit-${name}`)),
  );
  if (limit === undefined || remaining === undefined || needed <= remaining) return;
  const windows = Math.ceil((needed - remaining) / limit);
  console.error(
    `${total} products take ${needed} requests, and this key may send ${limit} in ${window} s: it will wait for up to ${windows} windows; give RATE to allow it more`,
  );
}

/** The ids of all products of a category; the cursor stays valid while others add and remove products. */
async function* productsOf(client: Catalog, wanted: string): AsyncGenerator<number> {
  let cursor: string | undefined;
  do {
    const query = { category: wanted, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
    const { data, error } = await client.GET('/v1/products', { params: { query } });
    if (data === undefined) throw new Error(`the list was refused: ${error.message}`);
    for (const { id } of data.data) yield id;
    cursor = 'nextCursor' in data.meta ? (data.meta.nextCursor ?? undefined) : undefined;
  } while (cursor !== undefined);
}

async function raise(client: Catalog, id: number): Promise<void> {
  for (;;) {
    const read = await client.GET('/v1/products/{id}', { params: { path: { id } } });
    // Deleted since the page was read.
    if (read.response.status === 404) return;
    if (read.data === undefined) throw new Error(`product ${id} cannot be read: ${read.error.message}`);
    const price = Math.round(read.data.price * factor * 100) / 100;
    const etag = read.response.headers.get('ETag') ?? '*';
    const { response, error } = await client.PATCH('/v1/products/{id}', {
      params: { path: { id }, header: { 'If-Match': etag } },
      body: { price },
    });
    if (response.ok) return;
    if (response.status !== 412) throw new Error(`product ${id} cannot be changed: ${error?.message}`);
  }
}
